package document

import (
	"math"

	"github.com/ledongthuc/pdf"
)

// matrix is a PDF's: it takes (x, y) to (ax+cy+e, bx+dy+f).
type matrix struct{ a, b, c, d, e, f float64 }

func identity() matrix { return matrix{a: 1, d: 1} }

// matrixOf is the matrix of six operands; those that are missing are 0.
func matrixOf(at func(int) pdf.Value) matrix {
	return matrix{number(at(0)), number(at(1)), number(at(2)), number(at(3)), number(at(4)), number(at(5))}
}

// times applies m first and n then.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

// at is where the point (x, 0) comes to lie.
func (m matrix) at(x float64) (float64, float64) { return m.a*x + m.e, m.b*x + m.f }

// height is how much it enlarges upwards.
func (m matrix) height() float64 { return math.Hypot(m.c, m.d) }

// place is where the text that was written last ended, on the page.
type place struct {
	x, y, size float64
	began      bool // there is such text
	newLine    bool // an operator asked for a new line since
}

// separator is what belongs between the text at p and text of that size that
// begins at the point 0 of m: "\n", " " or nothing. Along and across are those of
// the line's direction, so that it holds for text that is turned.
func (p place) separator(m matrix, x, size float64) string {
	if !p.began {
		return ""
	}
	atX, atY := m.at(x)
	dx, dy := atX-p.x, atY-p.y
	ux, uy := 1.0, 0.0
	if n := math.Hypot(m.a, m.b); n > 0 {
		ux, uy = m.a/n, m.b/n
	}
	along, across := dx*ux+dy*uy, dy*ux-dx*uy
	tall := math.Max(size, p.size)
	switch back := along < -size; {
	case math.Abs(across) > tall/2, back && p.newLine: // half: raised and lowered text is of the line
		return "\n"
	case along > apart*size, back:
		return " "
	}
	return ""
}
