package document

import "github.com/ledongthuc/pdf"

// unknownWidth is that of a glyph of which none is known: it is taken for half as
// wide as it is high.
const unknownWidth = 0.5

// font is what is asked of a font for every string it shows.
type font struct {
	decoder   *decoder
	composite bool            // a glyph has two bytes
	widths    map[int]float64 // of codes, in sizes of the font
	other     float64         // the width of the other codes
}

func newFont(v pdf.Value) *font {
	f := pdf.Font{V: v}
	made := &font{composite: v.Key("Subtype").Name() == "Type0", widths: map[int]float64{}, other: unknownWidth}
	made.decoder = newDecoder(v, made.composite)
	if made.composite {
		made.readComposite(v.Key("DescendantFonts").Index(0))
		return made
	}
	const simple = 256 // codes
	unit := 0.001
	if m := v.Key("FontMatrix"); v.Key("Subtype").Name() == "Type3" && m.Len() > 0 {
		unit = number(m.Index(0))
	}
	widths, first := v.Key("Widths"), f.FirstChar()
	for i := range min(widths.Len(), simple) {
		if w := number(widths.Index(i)) * unit; w > 0 {
			made.widths[first+i] = w
		}
	}
	return made
}

// readComposite reads the widths of a font of two bytes a glyph: "code [width …]"
// and "first last width".
func (f *font) readComposite(v pdf.Value) {
	const codes = 1 << 16
	f.other = 1
	if dw := v.Key("DW"); !dw.IsNull() {
		f.other = number(dw) / 1000
	}
	w := v.Key("W")
	n := min(w.Len(), 3*codes)
	for i := 0; i+1 < n && len(f.widths) < codes; {
		first := int(w.Index(i).Int64())
		if list := w.Index(i + 1); list.Kind() == pdf.Array {
			for j := range min(list.Len(), codes) {
				f.widths[first+j] = number(list.Index(j)) / 1000
			}
			i += 2
			continue
		}
		last, width := int(w.Index(i+1).Int64()), number(w.Index(i+2))/1000
		for code := max(first, 0); code <= min(last, codes-1) && len(f.widths) < codes; code++ {
			f.widths[code] = width
		}
		i += 3
	}
}

// width is how far a string moves the pen, in sizes of the font.
func (f *font) width(raw string) float64 {
	step := 1
	if f.composite {
		step = 2
	}
	sum := 0.0
	for i := 0; i+step <= len(raw); i += step {
		code := int(raw[i])
		if f.composite {
			code = code<<8 | int(raw[i+1])
		}
		if w, ok := f.widths[code]; ok {
			sum += w
		} else {
			sum += f.other
		}
	}
	return sum
}
