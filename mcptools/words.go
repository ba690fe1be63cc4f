package mcptools

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes are the sequences by which a program steers a terminal: colours, the
// cursor, a title.
const escapes = `\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[ -/]*[0-~])?`

// plainWords is text of a server as a person may be shown it: without what steers
// a terminal, what is invisible and what is no text at all.
func plainWords(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.Contains(text, "\x1b") {
		text = regexp.MustCompile(escapes).ReplaceAllString(text, "")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
}
