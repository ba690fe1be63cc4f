package document

import (
	"math"

	"github.com/ledongthuc/pdf"
)

const (
	maxForms    = 8      // depth of forms that show forms
	maxOperands = 10_000 // of one operator
)

// painter follows the operators of a page that place text, and writes it with
// the spaces and line ends that its places imply.
type painter struct {
	out       *writer
	resources pdf.Value
	fonts     map[string]*pdf.Font
	forms     int

	decode  pdf.TextEncoding
	size    float64 // of the font, times the text matrix's scale
	tfs     float64
	leading float64
	y       float64 // of the line
	began   bool    // text was written since the line moved
}

func newPainter(out *writer, resources pdf.Value, forms int) *painter {
	return &painter{out: out, resources: resources, fonts: map[string]*pdf.Font{}, forms: forms, size: 1, tfs: 1}
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
	case "BT":
		p.moved(math.Inf(1), true)
	case "Tf":
		p.font(arg(0).Name())
		p.tfs = math.Abs(number(arg(1)))
		p.size = p.tfs
	case "TL":
		p.leading = number(arg(0))
	case "Td":
		p.moved(p.y+number(arg(1)), number(arg(0)) != 0)
	case "TD":
		p.leading = -number(arg(1))
		p.moved(p.y+number(arg(1)), number(arg(0)) != 0)
	case "Tm":
		p.size = p.tfs * math.Max(math.Abs(number(arg(3))), math.Abs(number(arg(1))))
		p.moved(number(arg(5)), true)
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

func number(v pdf.Value) float64 {
	f := v.Float64()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// moved is told the new height of the line, and whether it moved sideways.
func (p *painter) moved(y float64, sideways bool) {
	switch {
	case math.IsInf(y, 1): // a new text object: the next move tells where
	case math.Abs(y-p.y) > math.Max(1, p.size/4) && p.began:
		must(p.out.line())
		p.began = false
	case sideways && p.began:
		must(p.out.space())
	}
	if !math.IsInf(y, 1) {
		p.y = y
	}
}

func (p *painter) newLine() {
	must(p.out.line())
	p.began = false
	p.y -= p.leading
}

func (p *painter) font(name string) {
	f, ok := p.fonts[name]
	if !ok {
		f = &pdf.Font{V: p.resources.Key("Font").Key(name)}
		p.fonts[name] = f
	}
	p.decode = f.Encoder()
}

func (p *painter) show(v pdf.Value) {
	if v.Kind() != pdf.String || p.decode == nil {
		return
	}
	if text := p.decode.Decode(v.RawString()); text != "" {
		must(p.out.write(text))
		p.began = true
	}
}

// showAll shows strings with kerning between them. A wide gap is a space:
// typesetting systems write none.
func (p *painter) showAll(v pdf.Value) {
	const wide = -180 // thousandths of the font's size
	for i := range v.Len() {
		x := v.Index(i)
		if x.Kind() == pdf.String {
			p.show(x)
		} else if number(x) < wide && p.began {
			must(p.out.space())
		}
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
