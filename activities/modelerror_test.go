package activities

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/internal/wire"
)

// TestErrorTable: the one table of error classes stands in docs/models.md and
// says what the code does, row by row.
func TestErrorTable(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(data), "| kind | what follows | error type | for example |\n|---|---|---|---|\n")
	if !ok {
		t.Fatal("there is no table of errors")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	kinds := wire.Kinds()
	if len(rows) != len(kinds) {
		t.Errorf("the table has %d rows, the code %d kinds", len(rows), len(kinds))
	}
	for i, rule := range kinds {
		e := &wire.Error{Kind: rule.Kind}
		want := fmt.Sprintf("| `%s` | %s | `%s` |", rule.Kind, e.Action(), modelErrorType(e))
		if i < len(rows) && !strings.HasPrefix(rows[i], want) {
			t.Errorf("row %d: got %s\nwant %s", i, rows[i], want)
		}
	}
}

// A28: far below our estimate is suspect, at a window's size
// it is certain.
func TestA28_JudgePrompt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name               string
		estimate, reported int
		windows            []int
		want               promptVerdict
	}{
		{"the case", 15_000, 4096, []int{2048, 4096}, promptCut},
		{"a little under the window", 15_000, 4050, []int{4096}, promptCut},
		{"the agent's window", 50_000, 32_768, []int{4096, 32_768}, promptCut},
		{"far below, no window", 15_000, 4000, nil, promptSuspect},
		{"at the window, by chance", 4200, 4096, []int{4096}, promptSuspect},
		{"near the window, it fits", 4200, 4060, []int{4096}, promptFits},
		{"more than we thought", 4000, 9000, []int{4096}, promptFits},
		{"a small prompt", 400, 20, []int{4096}, promptFits},
		{"no usage", 15_000, 0, []int{4096}, promptFits},
	} {
		if _, got := judgePrompt(c.estimate, c.reported, c.windows); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}
