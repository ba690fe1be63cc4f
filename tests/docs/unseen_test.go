package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// looksLikeCode are the lines by which Markdown, or a reader, takes something
// for a block of code that [fence] does not find.
var looksLikeCode = regexp.MustCompile("^\\s*(?:>\\s*|[-*+] |[0-9]+[.)] )*(?:```|~~~)|(?i)<(?:pre|code)\\b|^(?:    |\t)\\S")

// unseen are the lines of a document that look like code and are in no block
// that is run: an odd fence, an indented block, HTML.
func unseen(text string) []string {
	var found []string
	for line := range strings.Lines(fence.ReplaceAllString(text, "")) {
		if line = strings.TrimRight(line, "\n"); looksLikeCode.MatchString(line) {
			found = append(found, fmt.Sprintf("code that nothing is done with, or a block without an end: %q", line))
		}
	}
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[2], "```") || strings.Contains(m[2], "~~~") {
			found = append(found, fmt.Sprintf("a block within a block, or one without an end:\n%s", m[2]))
		}
	}
	return found
}

// faults takes the place of a test's own t, and keeps what it is told.
type faults struct {
	testing.TB
	all strings.Builder
}

func (f *faults) Helper()                      {}
func (f *faults) Cleanup(func())               {}
func (f *faults) Error(args ...any)            { fmt.Fprintln(&f.all, args...) }
func (f *faults) Errorf(s string, args ...any) { fmt.Fprintf(&f.all, s+"\n", args...) }
func (f *faults) Fatal(args ...any)            { f.Error(args...); panic(f) }
func (f *faults) Fatalf(s string, args ...any) { f.Errorf(s, args...); panic(f) }

// followed is what is wrong with a page.
func followed(t *testing.T, text string) string {
	t.Helper()
	f := &faults{TB: t}
	p := &page{t: f, dir: filepath.Join(t.TempDir(), "turnkeel"), env: os.Environ()}
	func() {
		defer func() {
			if r := recover(); r != nil && r != any(f) {
				panic(r)
			}
		}()
		p.follow(text)
	}()
	return f.all.String()
}

// A page of which one block is broken does not pass, whatever the block.
func TestPages_BrokenBlocks(t *testing.T) {
	t.Parallel()
	const whole = "# A page\n\n`one/main.go`:\n\n```go\npackage main\n\nfunc main() { println(1) }\n```\n\n" +
		"`notes.md`:\n\n```md\nOne\n```\n\n```yaml\nmodel: openai/gpt-4o-mini\n```\n\n" +
		"```sh\ncat notes.md\necho two three\n```\n\n```text\nOne\ntwo three\n```\n"
	if found := followed(t, whole); found != "" {
		t.Fatalf("the page itself: %s", found)
	}
	for _, tt := range []struct{ name, old, with, want string }{
		{"output", "\ntwo three\n```\n", "\ntwo four\n```\n", "not printed: two four"},
		{"no output", "One\ntwo three\n```", "```", "without one or the other"},
		{"output of nothing", "```sh\ncat notes.md\necho two three\n```\n\n", "", "without one or the other"},
		{"a command that fails", "echo two three", "echo two three; false", "exit status 1"},
		{"a command after a file's name", "```sh\n", "`notes.md`:\n\n```sh\nfalse\n", "exit status 1"},
		{"a command that fails first", "echo two three", "false; echo two three", "exit status 1"},
		{"a command that is not there", "cat notes.md", "kat notes.md", "not found"},
		{"a file without a name", "`notes.md`:", "notes.md:", "nothing is done with"},
		{"a file of another name", "`notes.md`:", "`note.md`:", "exit status 1"},
		{"Go that does not compile", "println(1)", "printn(1)", "undefined: printn"},
		{"Go that is not formatted", "println(1)", "println( 1 )", "is not formatted"},
		{"an agent with a wrong key", "model: openai", "modell: openai", "unknown key"},
		{"another language", "```sh", "```bash", "nothing is done with"},
		{"a fence with more on it", "```sh", "```sh title=x", "nothing is done with"},
		{"a fence in capitals", "```sh", "```SH", "nothing is done with"},
		{"an indented fence", "```sh\ncat", "  ```sh\ncat", "nothing is done with"},
		{"tildes", "# A page\n", "# A page\n\n~~~sh\nfalse\n~~~\n", "nothing is done with"},
		{"an indented block", "# A page\n", "# A page\n\n    false\n", "nothing is done with"},
		{"HTML", "# A page\n", "# A page\n\n<pre>false</pre>\n", "nothing is done with"},
		{"a fence in a list", "# A page\n", "# A page\n\n- ```sh\n  false\n  ```\n", "nothing is done with"},
		{"no end", "\ntwo three\n```\n", "\ntwo three\n", "nothing is done with"},
		{"no end in the middle", "println(1) }\n```", "println(1) }\n", "block"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			broken := strings.Replace(whole, tt.old, tt.with, 1)
			if broken == whole {
				t.Fatal("nothing was broken")
			}
			if found := followed(t, broken); !strings.Contains(found, tt.want) {
				t.Errorf("want %q, found: %s", tt.want, found)
			}
		})
	}
}

func TestMissing_Finds(t *testing.T) {
	t.Parallel()
	const printed = "one\ntwo   three\n"
	for lines, want := range map[string]string{"two three\n": "", "one\ntwo": "", "one\nfour\nfive\n": "four five"} {
		if got := strings.Join(missing(printed, lines), " "); got != want {
			t.Errorf("%q: got %q", lines, got)
		}
	}
}
