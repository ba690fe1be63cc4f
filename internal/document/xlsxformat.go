package document

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// shows says as what a number is shown.
type shows int

const (
	aNumber shows = iota
	aDate         // or a time of a day
	aLength       // of time: hours may pass 24
)

// readStyles finds the styles that show a number as a date or a time.
func (w *workbook) readStyles(a *archive, part string) error {
	own := map[string]shows{} // number formats of the file
	inCells := false
	return a.walk(part, handler{
		start: func(e xml.StartElement) error {
			switch e.Name.Local {
			case "numFmt":
				own[attr(e, "numFmtId")] = showsOf(attr(e, "formatCode"))
			case "cellXfs":
				inCells = true
			case "xf":
				if id := attr(e, "numFmtId"); inCells {
					w.shows = append(w.shows, max(builtin(id), own[id]))
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

// builtin is as what Excel's own format of that number shows one.
func builtin(id string) shows {
	n, err := strconv.Atoi(id)
	switch {
	case err != nil:
	case n == 46:
		return aLength
	case n >= 14 && n <= 22, n >= 27 && n <= 36, n >= 45 && n <= 47, n >= 50 && n <= 58:
		return aDate
	}
	return aNumber
}

// showsOf looks for the letters of dates outside of quotes and brackets. In
// brackets, hours, minutes or seconds alone are a length of time.
func showsOf(code string) shows {
	quoted := false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case c == '\\' || c == '_' || c == '*':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[':
			in, _, _ := strings.Cut(code[i+1:], "]")
			for _, unit := range []string{"h", "m", "s"} {
				if in != "" && strings.Trim(strings.ToLower(in), unit) == "" {
					return aLength
				}
			}
			i += len(in)
		case strings.IndexByte("ymdhsYMDHS", c) >= 0:
			return aDate
		}
	}
	return aNumber
}

// length shows days as hours, minutes and seconds.
func length(raw string) string {
	days, err := strconv.ParseFloat(raw, 64)
	if err != nil || math.Abs(days) > 1e9 {
		return raw
	}
	sign := ""
	if days < 0 {
		sign, days = "-", -days
	}
	seconds := int64(days*86_400 + 0.5)
	return fmt.Sprintf("%s%d:%02d:%02d", sign, seconds/3600, seconds/60%60, seconds%60)
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
