package providers

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/contract"
)

func document(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestDocument: docs/models.md says of each provider what this package does.
func TestDocument(t *testing.T) {
	t.Parallel()
	doc := document(t)
	for _, c := range contract.QuirkChoices() {
		if row := fmt.Sprintf("| `%s` | `%s` |", c.Quirk, strings.Join(c.Values, "`, `")); !strings.Contains(doc, row) {
			t.Errorf("no row that begins with %s", row)
		}
	}
	for _, p := range All() {
		row := "| `" + p.Name + "` | " + p.Title + " | "
		i := strings.Index(doc, row)
		if i < 0 {
			t.Errorf("no row that begins with %s", row)
			continue
		}
		line, _, _ := strings.Cut(doc[i:], "\n")
		if p.BaseURL != "" && !strings.Contains(line, "`"+p.BaseURL+"`") || !strings.Contains(line, "`"+p.KeyEnv+"`") {
			t.Errorf("%s: address or key's variable: %s", p.Name, line)
		}
		if strings.HasSuffix(line, "optional |") != p.KeyOptional {
			t.Errorf("%s: is its key optional? %s", p.Name, line)
		}
		if !strings.Contains(doc, "model: "+p.Name+"/") {
			t.Errorf("%s: no agent.yaml", p.Name)
		}
		for _, q := range p.Quirks {
			if row := quirkRow(p, q); !strings.Contains(doc, row) {
				t.Errorf("no row\n%s", row)
			}
		}
		if p.WindowsWhy != "" && !strings.Contains(doc, p.WindowsWhy) {
			t.Errorf("%s: missing: %s", p.Name, p.WindowsWhy)
		}
	}
}

func quirkRow(p Provider, q Quirk) string {
	return fmt.Sprintf("| %s | `%s: %s` | %s |", p.Title, q.Name, q.Value, q.Why)
}

// TestProviders: every quirk exists, has a reason, and differs from what an
// unknown provider gets.
func TestProviders(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range All() {
		if seen[p.Name] {
			t.Errorf("%s stands twice", p.Name)
		}
		seen[p.Name] = true
		if _, err := p.Settings(nil); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		for _, q := range p.Quirks {
			i := slices.IndexFunc(contract.QuirkChoices(), func(c contract.QuirkChoice) bool { return c.Quirk == q.Name })
			if i < 0 || len(q.Why) < 20 {
				t.Errorf("%s: %s: no such quirk, or no reason", p.Name, q.Name)
			}
		}
		if (len(p.Windows) > 0) != (p.WindowsWhy != "") {
			t.Errorf("%s: windows without a reason", p.Name)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	p, known := Lookup("mistral")
	if !known {
		t.Fatal("unknown")
	}
	s, err := p.Settings(map[contract.Quirk]string{contract.QuirkToolCallIDs: "any"})
	if err != nil || s.ToolCallIDs != "any" || s.UserAfterTool != "bridge" || s.Stream != "on" {
		t.Errorf("%+v %v", s, err)
	}
	for _, bad := range []map[contract.Quirk]string{{"no_such": "x"}, {contract.QuirkStream: "maybe"}} {
		if _, err := p.Settings(bad); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
	if p, known := Lookup("elsewhere"); known || len(p.Quirks) != 0 || !p.KeyOptional {
		t.Errorf("%+v", p)
	}
}
