package document

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxGap is how many empty cells before one are shown as tabs; the place of a
// cell beyond that is named.
const maxGap = 30

// workbook is what the cells of an Excel file refer to.
type workbook struct {
	shared   []string
	shows    []shows // by style
	epoch    time.Time
	unsaved  int // formulas without a value
	drawings int // sheets that show more than cells
}

// readXlsx writes the sheets, each row a line with a tab between cells. Formulas
// are shown as the values they had when the file was saved.
func readXlsx(out *writer, a *archive, book string) error {
	targets, err := a.relations(book)
	if err != nil {
		return err
	}
	w := &workbook{epoch: time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)}
	type sheet struct{ name, part string }
	var sheets []sheet
	if err := a.walk(book, handler{start: func(e xml.StartElement) error {
		switch e.Name.Local {
		case "workbookPr":
			if on(attr(e, "date1904")) {
				w.epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
			}
		case "sheet":
			part := targets[relationID(e)]
			if !a.has(part) {
				return fmt.Errorf("the file is damaged: its sheet %.100q is missing", attr(e, "name"))
			}
			sheets = append(sheets, sheet{attr(e, "name"), part})
		}
		return nil
	}}); err != nil {
		return err
	}
	if err := w.readParts(a, book); err != nil {
		return err
	}
	for _, s := range sheets {
		if err := out.line(); err != nil {
			return err
		}
		if err := out.write(fmt.Sprintf("[sheet %s]\n", s.name)); err != nil {
			return err
		}
		if err := w.readSheet(out, a, s.part); err != nil {
			return err
		}
		if err := readComments(out, a, s.part); err != nil {
			return err
		}
	}
	if w.unsaved > 0 {
		out.note("%d formulas were saved without their values and stand as formulas; open the file in Excel and save it to have the values", w.unsaved)
	}
	if w.drawings > 0 {
		out.note("%d sheets have charts, pictures or text boxes, which are not read", w.drawings)
	}
	return nil
}

// readParts reads what cells refer to.
func (w *workbook) readParts(a *archive, book string) error {
	for _, part := range []struct {
		kind, usual string
		read        func(*archive, string) error
	}{{"sharedStrings", "xl/sharedStrings.xml", w.readShared}, {"styles", "xl/styles.xml", w.readStyles}} {
		names, err := a.relatedOf(book, part.kind, part.usual)
		if err != nil {
			return err
		}
		for _, name := range names[:min(1, len(names))] {
			if err := part.read(a, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// readComments writes the comments of a sheet's cells, each a line.
func readComments(out *writer, a *archive, sheet string) error {
	parts, err := a.relatedOf(sheet, "comments", "")
	if err != nil {
		return err
	}
	var text strings.Builder
	place, inText := "", false
	for _, part := range parts {
		if err := a.walk(part, handler{
			start: func(e xml.StartElement) error {
				switch e.Name.Local {
				case "comment":
					place = attr(e, "ref")
					text.Reset()
				case "t":
					inText = true
				}
				return nil
			},
			end: func(e xml.EndElement) error {
				switch e.Name.Local {
				case "t":
					inText = false
				case "comment":
					return out.write("[comment " + place + "] " + oneLine.Replace(text.String()) + "\n")
				}
				return nil
			},
			text: func(s string) error {
				if inText {
					text.WriteString(s)
				}
				return nil
			},
		}); err != nil {
			return err
		}
	}
	return nil
}

func on(value string) bool { return value == "1" || value == "true" }

// readShared reads the strings that cells name by number.
func (w *workbook) readShared(a *archive, part string) error {
	var one strings.Builder
	phonetic, inText := 0, false
	return a.walk(part, handler{
		start: func(e xml.StartElement) error {
			switch e.Name.Local {
			case "rPh":
				phonetic++
			case "t":
				inText = phonetic == 0
			}
			return nil
		},
		end: func(e xml.EndElement) error {
			switch e.Name.Local {
			case "rPh":
				phonetic--
			case "t":
				inText = false
			case "si":
				w.shared = append(w.shared, unescaped(one.String()))
				one.Reset()
			}
			return nil
		},
		text: func(s string) error {
			if inText {
				one.WriteString(s)
			}
			return nil
		},
	})
}

// escape is how Excel writes a character that XML cannot hold, or would change.
var escape = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`) //nolint:gochecknoglobals // never changed

func unescaped(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return escape.ReplaceAllStringFunc(text, func(code string) string {
		n, _ := strconv.ParseUint(code[2:6], 16, 16)
		return string(rune(n))
	})
}

// value is a cell's value as it is shown, roughly.
func (w *workbook) value(kind, style, raw string) (string, error) {
	switch kind {
	case "s":
		i, err := strconv.Atoi(strings.TrimSpace(raw))
		switch {
		case raw == "":
			return "", nil
		case err != nil || i < 0 || i >= len(w.shared):
			return "", fmt.Errorf("the file is damaged: a cell shows the text %.20q of a table that has %d", raw, len(w.shared))
		}
		return w.shared[i], nil
	case "inlineStr", "str":
		return unescaped(raw), nil
	case "b":
		return strings.ToUpper(strconv.FormatBool(on(raw))), nil
	case "", "n":
		i, err := strconv.Atoi(style)
		if style == "" {
			i, err = 0, nil
		}
		if err != nil || i < 0 || i >= len(w.shows) {
			break
		}
		switch w.shows[i] {
		case aDate:
			return w.date(raw), nil
		case aLength:
			return length(raw), nil
		}
	}
	return raw, nil
}
