package workflows

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
)

// R22: the commands of the details reach the temporal CLI, through a shell, as
// the words they are meant to be, whatever id, namespace and user are.
func TestDetailsCommands(t *testing.T) {
	t.Parallel()
	for _, word := range []string{
		"turn-1", "", "two words", "it's", `"quoted"`, "$(exit 3)", "`exit 3`", "$HOME", `back\slash`, "a;exit 3", "-x", "--",
		"ü雪🙂", "two\nlines", "tab\there", "*", "~", "#x", "a&b|c>d", "!!", "a\n```\nb", "a\n````\nb`", "%s%d", "\\\n",
	} {
		turn := effect.Scope{Namespace: word, WorkflowID: word}
		asked := contract.Pending{Key: "k1", Digest: "d1", Tool: "pay", Args: "{}"}
		user := strings.NewReplacer(`"`, "", "\\", "", "\n", " ", "\t", " ").Replace(word) // stands in JSON
		want := func(update string, input map[string]any) []string {
			input["by"], input["key"] = user, asked.Key
			text, err := json.Marshal(input)
			if err != nil {
				t.Fatal(err)
			}
			return []string{"workflow", "update", "execute", "--name", update, "--namespace", word, "--workflow-id", word, "--input", string(text)}
		}
		decided := [][]string{
			want(contract.UpdateDecide, map[string]any{"approve": true, "digest": asked.Digest}),
			want(contract.UpdateDecide, map[string]any{"approve": false, "digest": asked.Digest}),
		}
		if diff := cmp.Diff(decided, shellWords(t, waitsFor(turn, asked), user)); diff != "" {
			t.Errorf("%q: want (-) and got (+):\n%s", word, diff)
		}
		asked.Kind = contract.PendingUnknown
		resolved := [][]string{want(contract.UpdateResolve, map[string]any{"verdict": string(contract.VerdictHappened)})}
		if diff := cmp.Diff(resolved, shellWords(t, waitsFor(turn, asked), user)); diff != "" {
			t.Errorf("%q: want (-) and got (+):\n%s", word, diff)
		}
	}
}

// shellWords runs each command of details in a shell, where temporal prints
// its arguments, and gives these. The last one, JSON, is in its short form.
func shellWords(t *testing.T, details, user string) (all [][]string) {
	t.Helper()
	for _, command := range fenced(details, "sh") {
		shell := exec.CommandContext(t.Context(), "sh", "-ec", "temporal() { printf '%s\\0' \"$@\"; }\n"+command) //nolint:gosec // what is tested
		shell.Env = []string{"USER=" + user}
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Errorf("%s\n%v: %s", command, err, out)
			continue
		}
		words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		var input map[string]any
		last := len(words) - 1
		if err := json.Unmarshal([]byte(words[last]), &input); err != nil {
			t.Errorf("%s\n%v", words[last], err)
			continue
		}
		short, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		words[last] = string(short)
		all = append(all, words)
	}
	return all
}

// fenced is the code of a language in Markdown, as CommonMark has it: a fence
// ends at a line with at least as many backticks and nothing else.
func fenced(markdown, language string) (blocks []string) {
	open, code := "", ""
	for line := range strings.Lines(markdown) {
		text := strings.TrimRight(line, " \n")
		ticks := text[:len(text)-len(strings.TrimLeft(text, "`"))]
		switch {
		case open == "" && len(ticks) >= 3:
			open, code = ticks, ""
			if text[len(ticks):] != language {
				code = "not " + language
			}
		case open == "":
		case text == ticks && len(ticks) >= len(open):
			if !strings.HasPrefix(code, "not "+language) {
				blocks = append(blocks, code)
			}
			open = ""
		default:
			code += line
		}
	}
	return blocks
}
