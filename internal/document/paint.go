package document

import (
	"fmt"
	"math"

	"github.com/ledongthuc/pdf"
)

const (
	maxForms    = 8      // depth of forms that show forms
	maxOperands = 10_000 // of one operator

	maxOperators = 5_000_000 // of a file
)

// painter follows the operators of a page that place text, and writes it with
// the spaces and line ends that its places imply.
type painter struct {
	out       *writer
	resources pdf.Value
	fonts     map[string]*font
	forms     int

	font    *font
	size    float64 // of the font, times the text matrix's scale
	tfs     float64
	leading float64
	stretch float64 // of glyphs, sideways
	x, y    float64 // where the line begins
	pen     float64 // where the next glyph stands on it, roughly
	began   bool    // text was written since the line moved
}

func newPainter(out *writer, resources pdf.Value, forms int) *painter {
	return &painter{out: out, resources: resources, fonts: map[string]*font{}, forms: forms, size: 1, tfs: 1, stretch: 1}
}

// must ends the painting with an error.
func must(err error) {
	if err != nil {
		panic(stop{err})
	}
}

func (p *painter) paint(contents pdf.Value) {
	pdf.Interpret(contents, func(stack *pdf.Stack, op string) {
		must(p.out.ctx.Err())
		if p.out.operators++; p.out.operators > maxOperators {
			must(fmt.Errorf("%w: the pages of the PDF have more than %d operators", ErrLimit, maxOperators))
		}
		n := stack.Len()
		if n > maxOperands {
			panic("an operator has too many operands")
		}
		args := make([]pdf.Value, n)
		for i := n - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		p.operator(op, args)
	})
}

// operator does what an operator does to text. Operands that are missing are 0.
func (p *painter) operator(op string, args []pdf.Value) {
	arg := func(i int) pdf.Value {
		if i < len(args) {
			return args[i]
		}
		return pdf.Value{}
	}
	switch op {
	case "Tf":
		p.useFont(arg(0).Name())
		p.tfs = math.Abs(number(arg(1)))
		p.size = p.tfs
	case "Tz":
		p.stretch = number(arg(0)) / 100
	case "TL":
		p.leading = number(arg(0))
	case "TD":
		p.leading = -number(arg(1))
		p.moveTo(p.x+number(arg(0))*p.scale(), p.y+number(arg(1))*p.scale())
	case "Td":
		p.moveTo(p.x+number(arg(0))*p.scale(), p.y+number(arg(1))*p.scale())
	case "Tm":
		p.size = p.tfs * math.Max(math.Abs(number(arg(3))), math.Abs(number(arg(1))))
		p.moveTo(number(arg(4)), number(arg(5)))
	case "T*":
		p.newLine()
	case "'":
		p.newLine()
		p.show(arg(0))
	case "\"":
		p.newLine()
		p.show(arg(2))
	case "Tj":
		p.show(arg(0))
	case "TJ":
		p.showAll(arg(0))
	case "Do":
		p.form(arg(0).Name())
	}
}

// number is a finite number, 0 for anything else.
func number(v pdf.Value) float64 {
	f := v.Float64()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// scale is how much the text matrix enlarges.
func (p *painter) scale() float64 {
	if p.tfs == 0 {
		return 1
	}
	return p.size / p.tfs
}

// moveTo begins a line, or goes on with one at the same height: then a gap to
// what was written is a space.
func (p *painter) moveTo(x, y float64) {
	gap := x - p.pen
	switch {
	case !p.began:
	case math.Abs(y-p.y) > math.Max(1, p.size/4):
		must(p.out.line())
		p.began = false
	case gap > 0.15*p.size || gap < -p.size:
		must(p.out.space())
	}
	p.x, p.y, p.pen = x, y, x
}

func (p *painter) newLine() {
	must(p.out.line())
	p.began = false
	p.y -= p.leading * p.scale()
	p.pen = p.x
}

// useFont makes a font of the page the current one.
func (p *painter) useFont(name string) {
	f, ok := p.fonts[name]
	if !ok {
		f = newFont(p.resources.Key("Font").Key(name))
		p.fonts[name] = f
	}
	p.font = f
}

func (p *painter) show(v pdf.Value) {
	if v.Kind() != pdf.String || p.font == nil {
		return
	}
	raw := v.RawString()
	text := p.font.decode.Decode(raw)
	if text == "" {
		return
	}
	must(p.out.write(text))
	p.began = true
	p.pen += p.font.width(raw, text) * p.size * p.stretch
}

// showAll shows strings with kerning between them. A wide gap is a space:
// typesetting systems write none.
func (p *painter) showAll(v pdf.Value) {
	const wide = -180 // thousandths of the font's size
	for i := range v.Len() {
		x := v.Index(i)
		if x.Kind() == pdf.String {
			p.show(x)
			continue
		}
		if number(x) < wide && p.began {
			must(p.out.space())
		}
		p.pen -= number(x) / 1000 * p.size * p.stretch
	}
}

// form shows a form, which is a page within a page.
func (p *painter) form(name string) {
	form := p.resources.Key("XObject").Key(name)
	if form.Kind() != pdf.Stream || form.Key("Subtype").Name() != "Form" {
		return
	}
	if p.forms >= maxForms {
		panic("forms show forms too deep, or themselves")
	}
	resources := form.Key("Resources")
	if resources.IsNull() {
		resources = p.resources
	}
	must(p.out.space())
	newPainter(p.out, resources, p.forms+1).paint(form)
}
