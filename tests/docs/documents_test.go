package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// documents are the Markdown files that a reader of the repository meets, by
// path from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "agents/*.md", "bench/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			found[filepath.ToSlash(rel)] = string(data)
		}
	}
	for _, must := range []string{"README.md", "CHANGELOG.md", "docs/architecture.md", "docs/operations.md"} {
		if found[must] == "" {
			t.Errorf("%s is missing or empty", must)
		}
	}
	return found
}

var (
	fence  = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	inline = regexp.MustCompile("`([^`]+)`")
	indent = regexp.MustCompile(`(?m)^    (\S.*)$`)
)

// block is the one fenced block of a language in a document.
func block(t *testing.T, text, language string) string {
	t.Helper()
	var found []string
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		if m[1] == language {
			found = append(found, m[2])
		}
	}
	if len(found) != 1 {
		t.Fatalf("want one %s block, found %d", language, len(found))
	}
	return found[0]
}

// commandLines are the lines of a document that stand as code: of blocks of
// shell or without a language, indented ones, and spans inside a sentence.
func commandLines(text string) []string {
	var lines []string
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		if m[1] == "" || m[1] == "sh" {
			lines = append(lines, strings.Split(m[2], "\n")...)
		}
	}
	prose := fence.ReplaceAllString(text, "")
	for _, m := range indent.FindAllStringSubmatch(prose, -1) {
		lines = append(lines, m[1])
	}
	for _, m := range inline.FindAllStringSubmatch(prose, -1) {
		lines = append(lines, strings.Join(strings.Fields(m[1]), " "))
	}
	return lines
}
