package docs

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks follows the links that stay in the repository.
func TestLinks(t *testing.T) {
	t.Parallel()
	for name, text := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			if target != "" {
				target = path.Join(path.Dir(name), target)
			} else {
				target = name
			}
			file := filepath.Join(root, filepath.FromSlash(target))
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
				continue
			}
			if anchor != "" && !hasHeading(read(t, file), anchor) {
				t.Errorf("%s links to %s, which has no such heading", name, m[1])
			}
		}
	}
}

// hasHeading says whether a document has the heading that GitHub gives that
// anchor.
func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		heading := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
		heading = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(heading, "")
		if strings.ReplaceAll(heading, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// TestNoMachine finds what only makes sense on the machine of a writer.
func TestNoMachine(t *testing.T) {
	t.Parallel()
	machine := regexp.MustCompile(`/(?:home|root|work|Users)/|GOPROXY=http`)
	for name, text := range documents(t) {
		if found := machine.FindString(text); found != "" {
			t.Errorf("%s has %q", name, found)
		}
	}
}
