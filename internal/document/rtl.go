package document

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// hand says how the page puts letters that are read from right to left: as the
// eye meets them from the left, which is the rule, or in the order of reading.
type hand struct {
	seen, read int
	wasRight   bool    // the last piece was of such letters
	begin      float64 // where it began, sideways
}

// piece counts a piece of text that stands from begin to end on the page. It says
// what belongs between it and the last one where the page has the two in the order
// of reading, ok false elsewhere.
func (h *hand) piece(text string, last *place, begin, end [2]float64, size float64) (between string, ok bool) {
	n := 0
	for _, r := range text {
		if rightward(r) {
			n++
		}
	}
	was, gap := h.wasRight, h.begin-end[0]
	h.wasRight, h.begin = n > 0, begin[0]
	switch {
	case n > 1:
		h.seen += n - 1
	case n == 1 && was && last.began:
		if dx, dy := begin[0]-last.x, begin[1]-last.y; math.Abs(dy) >= size/2 || dx > -size/4 {
			h.seen++
			break
		}
		h.read++
		if gap > apart*size {
			return " ", true
		}
		return "", true
	}
	return "", false
}

// rightward says that a character is of a script that is read from right to left.
func rightward(r rune) bool {
	return r >= 0x590 && (unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko) && !unicode.IsDigit(r))
}

// logical is a page's text in the order of reading.
func (h *hand) logical(page string) string {
	if !strings.ContainsFunc(page, rightward) {
		return page
	}
	right, left := 0, 0
	for _, r := range page {
		switch {
		case rightward(r):
			right++
		case unicode.IsLetter(r):
			left++
		}
	}
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		if !strings.ContainsFunc(line, rightward) {
			continue
		}
		if h.seen >= h.read {
			line = string(reordered([]rune(line), right > left || !strings.ContainsFunc(line, leftward)))
		}
		lines[i] = letter(line)
	}
	return strings.Join(lines, "\n")
}

// letter is a line with letters in place of their forms in a word.
func letter(line string) string {
	var b strings.Builder
	for _, r := range line {
		if r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc {
			b.WriteString(norm.NFKC.String(string(r)))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// leftward says that a character is a letter that is read from left to right.
func leftward(r rune) bool { return unicode.IsLetter(r) && !rightward(r) }

// reordered is a line as the eye meets it, in the order of reading. right says
// that the line as a whole is read from the right.
func reordered(line []rune, right bool) []rune {
	if !right {
		runs(line, rightward, func(r rune) bool { return !leftward(r) }, func(run []rune) { copy(run, reordered(run, true)) })
		return line
	}
	slices.Reverse(line)
	for i, r := range line {
		line[i] = mirrored(r)
	}
	words := func(r rune) bool { return leftward(r) || unicode.IsDigit(r) }
	runs(line, words, func(r rune) bool { return !rightward(r) }, func(run []rune) {
		if !slices.ContainsFunc(run, leftward) { // numbers: each by itself
			runs(run, unicode.IsDigit, func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune(".,/:-٫٬", r) }, slices.Reverse)
			return
		}
		slices.Reverse(run)
		for i, r := range run {
			run[i] = mirrored(r)
		}
	})
	return line
}

// runs calls f for each longest run of characters that are in, from one that is
// an end to one that is.
func runs(line []rune, end, in func(rune) bool, f func([]rune)) {
	for i := 0; i < len(line); i++ {
		if !end(line[i]) {
			continue
		}
		last := i
		for j := i; j < len(line) && in(line[j]); j++ {
			if end(line[j]) {
				last = j
			}
		}
		f(line[i : last+1])
		i = last
	}
}

// mirrored is the bracket that looks the other way.
func mirrored(r rune) rune {
	const pairs = "()[]{}<>«»‹›"
	all := []rune(pairs)
	if at := slices.Index(all, r); at >= 0 {
		return all[at^1]
	}
	return r
}
