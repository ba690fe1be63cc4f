package cli

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// cellsOf is how many columns of a terminal a character takes.
func cellsOf(r rune) int {
	switch kind := width.LookupRune(r).Kind(); {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case kind == width.EastAsianWide, kind == width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// rowsOf is how many rows of a terminal a text takes. A character that does
// not fit at the end of one begins the next.
func rowsOf(text string, columns int) int {
	rows := 0
	for line := range strings.SplitSeq(text, "\n") {
		rows++
		used := 0
		for _, r := range line {
			cells := cellsOf(r)
			if used += cells; columns > 0 && used > columns {
				rows++
				used = cells
			}
		}
	}
	return rows
}

// firstCells is as much of a line as fits into so many columns.
func firstCells(line string, columns int) string {
	used := 0
	for i, r := range line {
		if used += cellsOf(r); used > columns {
			return line[:i]
		}
	}
	return line
}
