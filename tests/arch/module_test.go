package arch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the module's directory, seen from this package.
const root = "../.."

func load(t *testing.T) []File {
	t.Helper()
	files, err := Load(os.DirFS(root))
	if err != nil {
		t.Fatalf("reading the module's source files: %v", err)
	}
	if len(files) < 50 {
		t.Fatalf("read %d Go files: the module has more, so the rules would be held against nothing", len(files))
	}
	return files
}

func report(t *testing.T, found []string) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}

func TestModuleNamesItselfAsTheTablesDo(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(mod), "module "+module+"\n") {
		t.Errorf("go.mod does not begin with %q: the import table would match nothing", "module "+module)
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	report(t, Imports(packages, load(t)))
}

func TestLibraries(t *testing.T) {
	t.Parallel()
	report(t, Libraries(libraries, load(t)))
}

func TestNoInitFunctions(t *testing.T) {
	t.Parallel()
	report(t, Inits(load(t)))
}

func TestNoVaguePackageNames(t *testing.T) {
	t.Parallel()
	report(t, VagueNames(load(t)))
}

// T10: a handler of our own tools has its variables from the call alone.
func TestToolsDoNotReadTheEnvironment(t *testing.T) {
	t.Parallel()
	report(t, EnvReads([]string{"tools/...", "examples/support/...", "examples/tools/..."}, load(t)))
}

func TestEveryRowIsAboutAPackage(t *testing.T) {
	t.Parallel()
	for _, row := range Unused(packages, load(t)) {
		if !planned[row] {
			t.Errorf("no package matches row %q of tests/arch/table.go: remove it, or follow the rename", row)
		}
	}
}

// planned are rows that stand before their package does.
var planned = map[string]bool{"internal/codec": true}
