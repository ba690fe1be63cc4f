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
	shared []string
	dates  []bool // by style
	epoch  time.Time
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
			if part := targets[relationID(e)]; a.has(part) {
				sheets = append(sheets, sheet{attr(e, "name"), part})
			}
		}
		return nil
	}}); err != nil {
		return err
	}
	if err := w.readShared(a); err != nil {
		return err
	}
	if err := w.readStyles(a); err != nil {
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
	}
	return nil
}

func on(value string) bool { return value == "1" || value == "true" }

// readShared reads the strings that cells name by number.
func (w *workbook) readShared(a *archive) error {
	const part = "xl/sharedStrings.xml"
	if !a.has(part) {
		return nil
	}
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

// readStyles finds the styles that show a number as a date or a time.
func (w *workbook) readStyles(a *archive) error {
	const part = "xl/styles.xml"
	if !a.has(part) {
		return nil
	}
	own := map[string]bool{} // number formats of the file that are dates
	inCells := false
	return a.walk(part, handler{
		start: func(e xml.StartElement) error {
			switch e.Name.Local {
			case "numFmt":
				own[attr(e, "numFmtId")] = isDateFormat(attr(e, "formatCode"))
			case "cellXfs":
				inCells = true
			case "xf":
				if id := attr(e, "numFmtId"); inCells {
					w.dates = append(w.dates, builtinDate(id) || own[id])
				}
			}
			return nil
		},
		end: func(e xml.EndElement) error {
			if e.Name.Local == "cellXfs" {
				inCells = false
			}
			return nil
		},
	})
}

// builtinDate says that Excel's own format of that number shows a date or time.
func builtinDate(id string) bool {
	n, err := strconv.Atoi(id)
	return err == nil && (n >= 14 && n <= 22 || n >= 27 && n <= 36 || n >= 45 && n <= 47 || n >= 50 && n <= 58)
}

// isDateFormat looks for the letters of dates outside of quotes and brackets.
func isDateFormat(code string) bool {
	quoted, bracket := false, false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case c == '\\' || c == '_':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[':
			bracket = true
		case c == ']':
			bracket = false
		case !bracket && strings.IndexByte("ymdhsYMDHS", c) >= 0:
			return true
		}
	}
	return false
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
func (w *workbook) value(kind, style, raw string) string {
	switch kind {
	case "s":
		if i, err := strconv.Atoi(strings.TrimSpace(raw)); err == nil && i >= 0 && i < len(w.shared) {
			return w.shared[i]
		}
		return ""
	case "inlineStr", "str":
		return unescaped(raw)
	case "b":
		return strings.ToUpper(strconv.FormatBool(on(raw)))
	case "", "n":
		if i, err := strconv.Atoi(style); err == nil && i >= 0 && i < len(w.dates) && w.dates[i] {
			return w.date(raw)
		}
	}
	return raw
}

// date shows a day number, with its time when it has one.
func (w *workbook) date(raw string) string {
	days, err := strconv.ParseFloat(raw, 64)
	if err != nil || days < 0 || days > 2_958_466 { // the year 9999
		return raw
	}
	if days < 60 && days >= 1 && w.epoch.Year() < 1900 { // Excel has a 29 February 1900, which is day 60
		days++
	}
	whole := int(days)
	at := w.epoch.AddDate(0, 0, whole).Add(time.Duration((days-float64(whole))*86_400+0.5) * time.Second)
	switch {
	case days < 1:
		return at.Format(time.TimeOnly)
	case days == float64(whole):
		return at.Format(time.DateOnly)
	}
	return at.Format(time.DateTime)
}
