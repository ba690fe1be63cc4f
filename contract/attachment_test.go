package contract_test

import (
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/contract"
)

// Y22: a file's name is one line of what it seems to be, wherever it came from.
func TestAttachmentName(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"a/b/über uns.pdf":  "über uns.pdf",
		"a\nb.txt":          "a_b.txt",
		"\x1b[31mred\a.txt": "_[31mred_.txt",
		"cod\u202etxt.exe":  "cod_txt.exe",
		"broken\xff.txt":    "broken_.txt",
		`q"'` + "`.txt":     `q"'` + "`.txt",
		"x/":                "x",
		"..":                "..",
		"":                  ".",
		"日本語\u0301.txt":     "日本語\u0301.txt",
	} {
		if got := contract.AttachmentName(file); got != want {
			t.Errorf("%q became %q, want %q", file, got, want)
		}
	}
	if n := len([]rune(contract.AttachmentName(strings.Repeat("ä", 5_000)))); n > 300 {
		t.Errorf("a long name has %d runes", n)
	}
}
