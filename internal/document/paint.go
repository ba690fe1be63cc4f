package document

import (
	"fmt"
	"math"
	"strings"

	"github.com/ledongthuc/pdf"
)

const (
	maxForms    = 8      // depth of forms that show forms
	maxOperands = 10_000 // of one operator

	maxSaved = 1_000 // states of q

	// apart is the gap that is a space, in sizes of the font.
	apart = 0.15

	maxOperators = 5_000_000 // of a file
)

// painter follows the operators of a page that place text, and writes it with
// the spaces and line ends that its places imply.
type painter struct {
	out       *writer
	resources pdf.Value
	fonts     map[string]*font
	forms     int
	last      *place // shared with the forms of the page

	state
	saved []state

	line  matrix  // of the line of text
	pen   float64 // where the next glyph stands on it
	inRun bool    // text was shown since the pen was moved
}

// state is what the operators q and Q save and restore.
type state struct {
	page                 matrix
	font                 *font
	size                 float64 // of the font
	leading              float64
	stretch              float64 // of glyphs, sideways
	charSpace, wordSpace float64 // after each glyph, and each space
}

func newPainter(out *writer, resources pdf.Value, last *place, page matrix, forms int) *painter {
	return &painter{
		out: out, resources: resources, fonts: map[string]*font{}, forms: forms, last: last,
		state: state{page: page, size: 1, stretch: 1}, line: identity(),
	}
}

// must ends the painting with an error.
func must(err error) {
	if err != nil {
		panic(stop{err})
	}
}

func (p *painter) paint(contents pdf.Value) {
	pdf.Interpret(withoutImages(contents), func(stack *pdf.Stack, op string) {
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
	case "q":
		if len(p.saved) < maxSaved {
			p.saved = append(p.saved, p.state)
		}
	case "Q":
		if n := len(p.saved); n > 0 {
			p.state, p.saved = p.saved[n-1], p.saved[:n-1]
		}
	case "cm":
		p.page = matrixOf(arg).times(p.page)
	case "Do":
		p.form(arg(0).Name())
	case "Tf":
		p.useFont(arg(0).Name())
		p.size = math.Abs(number(arg(1)))
	case "Tz":
		p.stretch = number(arg(0)) / 100
	case "TL":
		p.leading = number(arg(0))
	case "Tc":
		p.charSpace = number(arg(0))
	case "Tw":
		p.wordSpace = number(arg(0))
	default:
		p.text(op, arg)
	}
}

// text does what an operator does that moves the pen or shows text.
func (p *painter) text(op string, arg func(int) pdf.Value) {
	switch op {
	case "BT":
		p.moveTo(identity())
	case "Tm":
		p.moveTo(matrixOf(arg))
	case "TD":
		p.leading = -number(arg(1))
		p.moveBy(number(arg(0)), number(arg(1)))
	case "Td":
		p.moveBy(number(arg(0)), number(arg(1)))
	case "T*":
		p.newLine()
	case "'":
		p.newLine()
		p.show(arg(0))
	case "\"":
		p.wordSpace, p.charSpace = number(arg(0)), number(arg(1))
		p.newLine()
		p.show(arg(2))
	case "Tj":
		p.show(arg(0))
	case "TJ":
		p.showAll(arg(0))
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

func (p *painter) moveTo(line matrix) {
	p.line, p.pen, p.inRun = line, 0, false
}

func (p *painter) moveBy(x, y float64) {
	p.moveTo(matrix{a: 1, d: 1, e: x, f: y}.times(p.line))
}

func (p *painter) newLine() {
	p.moveBy(0, -p.leading)
	p.last.newLine = true
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

// glyphsAsWords says that a string's two glyphs stand apart like two words:
// Ghostscript writes a space between pieces of text so.
func (p *painter) glyphsAsWords(raw string) bool {
	return len(raw) == 2 && !p.font.composite && p.charSpace > apart*p.size && raw[0] != ' ' && raw[1] != ' '
}

func (p *painter) show(v pdf.Value) {
	if v.Kind() != pdf.String || p.font == nil {
		return
	}
	raw := v.RawString()
	text, n := p.font.decoder.decode(raw)
	if text == "" {
		return
	}
	p.out.unknown += strings.Count(text, unknown)
	if p.glyphsAsWords(raw) {
		first, _ := p.font.decoder.decode(raw[:1])
		second, _ := p.font.decoder.decode(raw[1:])
		text = first + " " + second
	}
	at := p.line.times(p.page)
	size := p.size * at.height()
	must(p.separate(text, raw, at, size))
	must(p.out.write(readable.Replace(text)))
	p.pen += (p.font.width(raw)*p.size + float64(n)*p.charSpace + float64(strings.Count(raw, " "))*p.wordSpace) * p.stretch
	p.inRun = true
	p.ended(at, size)
	if n <= 2 { // what follows a glyph or two may be a space, see glyphsAsWords
		p.last.x, p.last.y = at.at(p.pen - p.charSpace*p.stretch)
	}
}

// separate writes what belongs between the text so far and what is shown now.
func (p *painter) separate(text, raw string, at matrix, size float64) error {
	var begin, end [2]float64
	begin[0], begin[1] = at.at(p.pen)
	end[0], end[1] = at.at(p.pen + p.font.width(raw)*p.size*p.stretch)
	between, ok := p.out.hand.piece(text, p.last, begin, end, size)
	if !ok {
		between = p.last.separator(at, p.pen, size)
	}
	switch between {
	case "\n":
		return p.out.line()
	case " ":
		return p.out.space()
	}
	return nil
}

// ended notes where text ended.
func (p *painter) ended(at matrix, size float64) {
	x, y := at.at(p.pen)
	*p.last = place{x: x, y: y, size: size, began: true}
}

// readable has ligatures as letters, which a search finds, and keeps a page's
// text in its line: some fonts say that their space is a tab.
var readable = strings.NewReplacer("\t", " ", "\r", " ", "\n", " ", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl") //nolint:gochecknoglobals // never changed

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
		kern := number(x)
		p.pen -= kern / 1000 * p.size * p.stretch
		if !p.inRun {
			continue
		}
		if kern < wide {
			must(p.out.space())
		}
		p.ended(p.line.times(p.page), p.last.size)
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
	page := p.page
	if m := form.Key("Matrix"); m.Len() > 0 {
		page = matrixOf(m.Index).times(page)
	}
	newPainter(p.out, resources, p.last, page, p.forms+1).paint(form)
}
