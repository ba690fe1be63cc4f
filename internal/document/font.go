package document

import (
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// font is what is asked of a font for every string it shows.
type font struct {
	decode pdf.TextEncoding
	first  int       // the code of the first width
	widths []float64 // in thousandths of the size; none for a font of many bytes a glyph
}

func newFont(v pdf.Value) *font {
	const simple = 256 // codes
	f := pdf.Font{V: v}
	made := &font{decode: f.Encoder(), first: f.FirstChar()}
	widths := v.Key("Widths")
	for i := range min(widths.Len(), simple) {
		made.widths = append(made.widths, number(widths.Index(i)))
	}
	return made
}

// width is how far a string moves the pen, in sizes of the font. A glyph of
// unknown width is taken for half as wide as it is high.
func (f *font) width(raw, text string) float64 {
	const unknown = 0.5
	if len(f.widths) == 0 {
		return unknown * float64(utf8.RuneCountInString(text))
	}
	sum := 0.0
	for i := range len(raw) {
		if at := int(raw[i]) - f.first; at >= 0 && at < len(f.widths) && f.widths[at] > 0 {
			sum += f.widths[at] / 1000
		} else {
			sum += unknown
		}
	}
	return sum
}
