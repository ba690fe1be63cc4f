package mcptools

import (
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/internal/mask"
)

// Y02: a program's line is cut where no secret is in two pieces, however the
// pieces of it come.
func TestLastWords_LongLines(t *testing.T) {
	t.Parallel()
	const secret = "sk-0123456789-abcdefghij"
	for before := maxLine - len(secret) - 2; before <= maxLine+2; before++ {
		for _, end := range []string{"\n", "", strings.Repeat("y", maxPartial) + secret + "\n"} {
			var logged []string
			words := &lastWords{mask: mask.New(map[string]string{"KEY": secret}), log: func(line string) { logged = append(logged, line) }}
			line := strings.Repeat("x", before) + secret + end
			for len(line) > 0 { // no piece holds the secret whole
				n := min(len(line), 7)
				if len(line) > 2*maxLine {
					n = maxLine
				}
				_, _ = words.Write([]byte(line[:n]))
				line = line[n:]
			}
			all := strings.Join(logged, "\n") + words.text()
			if strings.Contains(all, secret[:6]) || !strings.Contains(all, "xxx") || len(words.text()) > maxLine+len("…") {
				t.Fatalf("%d before it: %.2000s", before, all)
			}
		}
	}
}
