package document

import (
	"encoding/xml"
	"strings"
)

// readSheet writes the rows of a sheet.
func (w *workbook) readSheet(out *writer, a *archive, part string) error {
	r := &rows{book: w, out: out}
	return a.walk(part, handler{start: r.start, end: r.end, text: r.text})
}

// rows follows the cells of a sheet.
type rows struct {
	book *workbook
	out  *writer

	column      int // of the cell, from 0
	written     int // columns of the row that were written
	place       string
	kind, style string
	inValue     bool
	raw         strings.Builder
	inFormula   bool
	formula     strings.Builder
	hasFormula  bool
	phonetic    int // depth of how a text is pronounced
	drawn       bool
}

func (r *rows) start(e xml.StartElement) error {
	switch e.Name.Local {
	case "row":
		r.column, r.written = -1, 0
	case "c":
		r.place, r.kind, r.style = attr(e, "r"), attr(e, "t"), attr(e, "s")
		r.column = columnOf(r.place, r.column+1)
		r.raw.Reset()
		r.formula.Reset()
		r.hasFormula = false
	case "rPh":
		r.phonetic++
	case "v", "t":
		r.inValue = r.phonetic == 0
	case "f":
		r.inFormula, r.hasFormula = true, true
	case "drawing", "legacyDrawingHF", "picture":
		if !r.drawn {
			r.drawn = true
			r.book.drawings++
		}
	}
	return nil
}

func (r *rows) text(s string) error {
	if r.inValue {
		r.raw.WriteString(s)
	}
	if r.inFormula {
		r.formula.WriteString(s)
	}
	return nil
}

func (r *rows) end(e xml.EndElement) error {
	switch e.Name.Local {
	case "rPh":
		r.phonetic--
	case "v", "t":
		r.inValue = false
	case "f":
		r.inFormula = false
	case "c":
		return r.cell()
	case "row":
		if r.written > 0 {
			return r.out.write("\n")
		}
	}
	return nil
}

// oneLine keeps a cell's text in its line.
var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ") //nolint:gochecknoglobals // never changed

func (r *rows) cell() error {
	text, err := r.book.value(r.kind, r.style, r.raw.String())
	if err != nil {
		return err
	}
	if r.hasFormula && r.raw.Len() == 0 && r.kind != "str" {
		r.book.unsaved++
		text = "=" + r.formula.String() // of one that others share, only the first has it
	}
	text = oneLine.Replace(text)
	if text == "" {
		return nil
	}
	if gap := r.column - r.written; gap > maxGap {
		text = "\t[" + r.place + "] " + text
	} else if gap > 0 || r.written > 0 {
		// written counts the cells and their separators: n cells have n-1 tabs.
		text = strings.Repeat("\t", max(0, gap)+min(1, r.written)) + text
	}
	r.written = max(r.written, r.column) + 1
	return r.out.write(text)
}

// columnOf is the column of a place like "AB12", from 0, or else what follows.
func columnOf(place string, next int) int {
	n := 0
	for _, c := range place {
		if c < 'A' || c > 'Z' || n > 20_000 {
			break
		}
		n = n*26 + int(c-'A') + 1
	}
	if n == 0 {
		return next
	}
	return n - 1
}
