package contract_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
)

var update = flag.Bool("update", false, "write the golden files")

type modelText struct{ name, text string }

// modelTexts are all texts for the model, once for each form they have. word
// stands wherever somebody else's words go.
func modelTexts(word string) []modelText {
	const tool = "refund"
	minute := contract.Duration(time.Minute)
	return []modelText{
		{"TextToolError", contract.TextToolError(tool, word)},
		{"TextTimedOut AtMostOnce", contract.TextTimedOut(tool, minute, contract.ClassAtMostOnce)},
		{"TextTimedOut SafeToRetry", contract.TextTimedOut(tool, minute, contract.ClassSafeToRetry)},
		{"TextUnknown", contract.TextUnknown(tool, word)},
		{"TextGaveUp Keyed", contract.TextGaveUp(tool, 3, contract.ClassKeyed)},
		{"TextGaveUp SafeToRetry", contract.TextGaveUp(tool, 5, contract.ClassSafeToRetry)},
		{"TextNotRepeated", contract.TextNotRepeated(tool)},
		{"TextPolicyDenied", contract.TextPolicyDenied(tool, word)},
		{"TextDenied", contract.TextDenied(tool, word, "")},
		{"TextDenied with a comment", contract.TextDenied(tool, word, word)},
		{"TextDeniedBefore", contract.TextDeniedBefore(tool, word)},
		{"TextExpired", contract.TextExpired(tool, minute)},
		{"TextResolved", contract.TextResolved(tool, word, "")},
		{"TextResolved with a value", contract.TextResolved(tool, word, word)},
		{"TextDidNotHappen", contract.TextDidNotHappen(tool, word)},
		{"TextNotExecuted", contract.TextNotExecuted(tool, word)},
		{"TextInterrupted", contract.TextInterrupted(tool)},
		{"TextNotStarted", contract.TextNotStarted(tool)},
		{"TextUnknownTool", contract.TextUnknownTool(word, []string{tool, word})},
		{"TextUnknownTool without tools", contract.TextUnknownTool(word, nil)},
		{"TextArguments", contract.TextArguments(tool, word)},
		{"TextInvalidResult", contract.TextInvalidResult(tool, word)},
		{"TextTooManyCalls", contract.TextTooManyCalls(64)},
		{"TextTruncatedCall", contract.TextTruncatedCall()},
		{"TextLoopWarning", contract.TextLoopWarning(3)},
		{"TextWrapUp", contract.TextWrapUp(word)},
		{"TextReask", contract.TextReask(word)},
	}
}

// Models are steered by these words: a change of one is seen in a review.
func TestModelTexts_Golden(t *testing.T) {
	t.Parallel()
	const file = "testdata/modeltexts.golden"
	var b strings.Builder
	for _, m := range modelTexts("<words>") {
		b.WriteString("# " + m.name + "\n" + m.text + "\n\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("write the golden file again with -update if this is meant:\n%s", diff)
	}
}

// Whatever somebody else's words are, each text is valid UTF-8 and bounded.
func TestModelTexts_Bounded(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", strings.Repeat("ü\x00\xff", 20_000), strings.Repeat("x\n", 50_000)} {
		for _, m := range modelTexts(word) {
			if n := utf8.RuneCountInString(m.text); n > contract.MaxErrorText+500 || !utf8.ValidString(m.text) || strings.Contains(m.text, "\x00") {
				t.Errorf("%s: %d runes, valid %v", m.name, n, utf8.ValidString(m.text))
			}
		}
	}
}

// No text is forgotten above.
func TestModelTexts_AreAllThere(t *testing.T) {
	t.Parallel()
	source, err := parser.ParseFile(token.NewFileSet(), "modeltext.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range modelTexts("") {
		name, _, _ := strings.Cut(m.name, " ")
		known[name] = true
	}
	for _, d := range source.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Text") && !known[f.Name.Name] {
			t.Errorf("%s is not among the tested texts", f.Name.Name)
		}
	}
}

// T44: what the model reads of a result is cut in the middle, never inside a
// rune, with a marker that states both sizes and how to ask for less.
func TestT44_ResultCut(t *testing.T) {
	t.Parallel()
	whole := "HEAD" + strings.Repeat("é€😀", 40_000) + "TAIL"
	got := contract.BoundText(whole, contract.DefaultMaxToolResultChars)
	if n := utf8.RuneCountInString(got); n != 32_000 || !utf8.ValidString(got) {
		t.Errorf("%d runes, valid %v", n, utf8.ValidString(got))
	}
	if !strings.HasPrefix(got, "HEADé€😀") || !strings.HasSuffix(got, "é€😀TAIL") {
		t.Error("head or tail is lost")
	}
	for _, want := range []string{"120008 characters in all", "32000 shown", "ask for less"} {
		if !strings.Contains(got, want) {
			t.Errorf("the marker does not say %q", want)
		}
	}
	if fits := strings.Repeat("é", 32_000); contract.BoundText(fits, contract.DefaultMaxToolResultChars) != fits {
		t.Error("a result that fits is cut")
	}
}
