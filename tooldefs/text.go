package tooldefs

import (
	"strings"
	"unicode/utf8"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/schema"
)

// textInvalidArguments lists what is wrong with a call's arguments.
func textInvalidArguments(tool string, problems []schema.Problem) string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.String()
	}
	return contract.TextArguments(tool, strings.Join(lines, "\n- "))
}

// clip bounds s to max bytes of valid UTF-8 on one line.
func clip(s string, max int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= max {
		return s
	}
	end := max - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
