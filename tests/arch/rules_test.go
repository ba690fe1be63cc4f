package arch

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// The rules are tried on mutations of a small module that keeps them all, so
// that none of them is a rule that cannot fail.

var healthy = map[string]string{
	"contract/turn.go": "package contract\nimport \"strconv\"\nvar _ = strconv.Itoa",
	"workflows/turn.go": "package workflows\nimport (\n\"go.temporal.io/sdk/workflow\"\n\"" +
		module + "/contract\"\n)\n",
	"workflows/turn_test.go":  "package workflows_test\nimport _ \"" + module + "/activities\"",
	"activities/call.go":      "package activities\nimport _ \"" + module + "/contract\"",
	"tools/http/http.go":      "package http\nimport (\n_ \"net/http\"\n_ \"" + module + "/tooldefs\"\n)",
	"tools/http/real_test.go": "package http\nimport \"os\"\nfunc home() string { return os.Getenv(\"HOME\") }",
	"tooldefs/define.go":      "package tooldefs\nfunc Define() {}",
	"tooldefs/testdata/x.go":  "package util\nfunc init() {}",
	"devserver/go.mod":        "module " + module + "/devserver",
	"devserver/main.go":       "package main\nfunc init() {}",
	".cache/util.go":          "package util",
}

// violations runs every rule over a module.
func violations(t *testing.T, sources map[string]string) []string {
	t.Helper()
	tree := fstest.MapFS{}
	for name, src := range sources {
		tree[name] = &fstest.MapFile{Data: []byte(src)}
	}
	files, err := Load(tree)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(
		Imports(packages, files), Libraries(libraries, files), Inits(files), VagueNames(files),
		EnvReads([]string{"tools/..."}, files),
	)
}

func TestRulesFindViolations(t *testing.T) {
	t.Parallel()
	ours := func(pkg string) string { return "import _ \"" + module + "/" + pkg + "\"\n" }
	for _, tt := range []struct {
		name, file, src string
		want            string // part of the one violation; "" for none
	}{
		{name: "nothing changed"},
		{"contract looks at another package", "contract/bad.go", "package contract\n" + ours("internal/effect"), "contract/bad.go imports internal/effect: contract may import of ours only nothing"},
		{"contract does I/O", "contract/bad.go", "package contract\nimport _ \"os/exec\"", "must not import I/O"},
		{"contract may parse addresses", "contract/good.go", "package contract\nimport _ \"net/url\"", ""},
		{"contract uses a library", "contract/bad.go", "package contract\nimport _ \"example.com/x\"", "a library outside the standard library"},
		{"a workflow calls activities directly", "workflows/bad.go", "package workflows\n" + ours("activities"), "workflows may import of ours only contract, internal/stub, internal/effect"},
		{"a workflow encodes JSON", "workflows/bad.go", "package workflows\nimport _ \"encoding/json\"", "what a workflow must not touch"},
		{"a workflow dials", "workflows/bad.go", "package workflows\nimport _ \"net/http\"", "what a workflow must not touch"},
		{"a workflow holds a client", "workflows/bad.go", "package workflows\nimport _ \"go.temporal.io/sdk/client\"", "Temporal's client and worker"},
		{"a workflow logs with a library", "workflows/bad.go", "package workflows\nimport _ \"go.uber.org/zap\"", "a library other than Temporal's SDK"},
		{"a file for another system counts", "workflows/bad_windows.go", "//go:build windows\n\npackage workflows\nimport _ \"os\"", "what a workflow must not touch"},
		{"activities run workflows", "activities/bad.go", "package activities\n" + ours("workflows"), "activities/bad.go imports workflows"},
		{"a tool knows Temporal", "tools/http/bad.go", "package http\nimport _ \"go.temporal.io/sdk/activity\"", "must not import Temporal"},
		{"a tool uses another tool", "tools/http/bad.go", "package http\n" + ours("tools/files"), "no other tool"},
		{"a tool reads the environment", "tools/http/bad.go", "package http\nimport \"os\"\nfunc f() string { return os.Getenv(\"X\") }", "tools/http/bad.go:3: os.Getenv"},
		{"a tool names os.Getenv only", "tools/http/bad.go", "package http\nimport \"os\"\nvar get = os.Getenv", "tools/http/bad.go:3: os.Getenv"},
		{"a tool lists the environment", "tools/http/bad.go", "package http\nimport \"os\"\nfunc f() []string { return (os.Environ)() }", "tools/http/bad.go:3: os.Environ"},
		{"a tool looks a variable up by another name of os", "tools/http/bad.go", "package http\nimport sys \"os\"\nfunc f() { sys.LookupEnv(\"X\") }", "tools/http/bad.go:3: os.LookupEnv"},
		{"a tool goes below os", "tools/http/bad.go", "package http\nimport \"syscall\"\nfunc f() { syscall.Getenv(\"X\") }", "tools/http/bad.go:3: syscall.Getenv"},
		{"a tool hides os", "tools/http/bad.go", "package http\nimport . \"os\"\nfunc f() { Getenv(\"X\") }", "tools/http/bad.go:2: import . \"os\""},
		{"a tool reads the process's file", "tools/http/bad.go", "package http\nimport \"os\"\nfunc f() { os.ReadFile(\"/proc/self/environ\") }", "/proc/self/environ"},
		{"a tool links to the runtime", "tools/http/bad.go", "package http\nimport _ \"unsafe\"\n\n//go:linkname env syscall.runtime_envs\nfunc env() []string", "tools/http/bad.go:4: //go:linkname"},
		{"a tool has a field of that name", "tools/http/good.go", "package http\ntype t struct{ Getenv func() }\nfunc f(os t) { os.Getenv() }", ""},
		{"the devserver is linked in", "agenttest/bad_test.go", "package agenttest\n" + ours("devserver"), "a module of its own"},
		{"a package looks at the tests", "worker/main.go", "package main\n" + ours("tests/arch"), "worker/main.go imports tests/arch"},
		{"a package without a row", "internal/new/new.go", "package new", "package internal/new has no row: add it to the table"},
		{"a package without a row, in a tools folder", "tools/http/deep/deep.go", "package deep", "package tools/http/deep has no row"},
		{"a library in the wrong place", "activities/bad.go", "package activities\nimport _ \"github.com/sashabaranov/go-openai\"", "only internal/wire may"},
		{"a library in a test", "activities/good_test.go", "package activities\nimport _ \"github.com/stretchr/testify/mock\"", ""},
		{"an init function", "tooldefs/bad.go", "package tooldefs\n\nfunc init() {}", "tooldefs/bad.go:3: an init function"},
		{"a method named init", "tooldefs/good.go", "package tooldefs\ntype T struct{}\nfunc (T) init() {}", ""},
		{"a vague name", "tests/helpers/bad.go", "package helpers", "package helpers: name the package after what it provides"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sources := map[string]string{}
			for name, src := range healthy {
				sources[name] = src
			}
			if tt.file != "" {
				sources[tt.file] = tt.src
			}
			found := violations(t, sources)
			switch {
			case tt.want == "" && len(found) > 0:
				t.Errorf("found %q in a module that keeps the rules", found)
			case tt.want != "" && (len(found) != 1 || !strings.Contains(found[0], tt.want)):
				t.Errorf("found %q, want one violation with %q", found, tt.want)
			}
		})
	}
}

func TestUnusedFindsRowsWithoutPackage(t *testing.T) {
	t.Parallel()
	rows := []Row{{Package: "contract"}, {Package: "tools/*"}, {Package: "gone"}}
	files := []File{{Package: "contract"}, {Package: "tools/http"}}
	if diff := cmp.Diff([]string{"gone"}, Unused(rows, files)); diff != "" {
		t.Errorf("Unused (-want +got):\n%s", diff)
	}
}
