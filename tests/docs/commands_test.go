package docs

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	ourCommand  = regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*(?:go run \./)?(starter|worker)(?: (.*))?$`)
	taskCommand = regexp.MustCompile(`^(?:go tool -modfile=tests/tools/go\.mod )?task ([a-z][a-z:]*)(?: |$)`)
	goRun       = regexp.MustCompile(`^go run (\./\S+)`)
	taskName    = regexp.MustCompile(`(?m)^  ([a-z][a-z:]*):$`)
	longFlag    = regexp.MustCompile(`--[a-z][a-z-]*`)
	helpEntry   = regexp.MustCompile(`(?m)^  ([a-z]+) +\S`)
)

// TestCommands finds commands and flags that a document names and the code
// does not have.
func TestCommands(t *testing.T) {
	t.Parallel()
	docs := documents(t)
	binaries := t.TempDir()
	run(t, root, "go", "build", "-o", binaries, "./starter", "./worker")
	tasks := taskNames(t)
	checked := 0
	for name, text := range docs {
		for _, line := range commandLines(text) {
			if m := ourCommand.FindStringSubmatch(line); m != nil {
				checked++
				for _, problem := range problems(t, filepath.Join(binaries, m[1]), m[2]) {
					t.Errorf("%s: %q: %s", name, line, problem)
				}
			}
			if m := taskCommand.FindStringSubmatch(line); m != nil {
				checked++
				if !slices.Contains(tasks, m[1]) {
					t.Errorf("%s: %q: Taskfile.yml has no such task", name, line)
				}
			}
			if m := goRun.FindStringSubmatch(line); m != nil && !strings.Contains(text, "`"+m[1][len("./"):]+"/main.go`") { // else it makes it
				run(t, root, "go", "list", m[1])
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d commands were found in the documents: the patterns of this test no longer fit them", checked)
	}
}

// problems says what of a command line the binary does not know, by its help.
func problems(t *testing.T, binary, args string) []string {
	t.Helper()
	args, _, _ = strings.Cut(args, "#")
	help := run(t, root, binary, "--help")
	words := strings.Fields(args)
	for i, word := range words {
		commands := helpEntry.FindAllStringSubmatch(commandsOf(help), -1)
		if len(commands) == 0 || strings.HasPrefix(word, "-") {
			break // what follows are a command's own arguments
		}
		if !slices.ContainsFunc(commands, func(m []string) bool { return m[1] == word }) {
			return []string{"there is no command " + strings.Join(words[:i+1], " ")}
		}
		help = run(t, root, binary, append(slices.Clone(words[:i+1]), "--help")...)
	}
	var found []string
	for _, flag := range longFlag.FindAllString(args, -1) {
		if !slices.Contains(longFlag.FindAllString(help, -1), flag) {
			found = append(found, "there is no flag "+flag)
		}
	}
	return found
}

// commandsOf is the part of a help that lists commands.
func commandsOf(help string) string {
	_, list, _ := strings.Cut(help, "\nAvailable Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	return list
}

func taskNames(t *testing.T) []string {
	t.Helper()
	_, tasks, ok := strings.Cut(read(t, filepath.Join(root, "Taskfile.yml")), "\ntasks:\n")
	if !ok {
		t.Fatal("Taskfile.yml has no tasks")
	}
	var names []string
	for _, m := range taskName.FindAllStringSubmatch(tasks, -1) {
		names = append(names, m[1])
	}
	return names
}

func TestProblems_Finds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, root, "go", "build", "-o", dir, "./starter")
	starter := filepath.Join(dir, "starter")
	for _, tt := range []struct{ in, want string }{
		{"run --agent support", ""},
		{"rum --agent support", "there is no command rum"},
		{"run --agnet support", "there is no flag --agnet"},
		{"policy test support --cases x.yaml", ""},
		{"policy tset support", "there is no command policy tset"},
		{"policy test support --case x.yaml", "there is no flag --case"},
	} {
		if got := strings.Join(problems(t, starter, tt.in), "; "); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}
