package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// environmentReaders are the functions that read the process's environment, by
// the import path of their package.
var environmentReaders = map[string][]string{
	"os":                       {"Getenv", "LookupEnv", "Environ", "ExpandEnv"},
	"syscall":                  {"Getenv", "Environ", "GetEnvironmentVariable", "GetEnvironmentStrings"},
	"golang.org/x/sys/unix":    {"Getenv", "Environ"},
	"golang.org/x/sys/windows": {"Getenv", "Environ", "GetEnvironmentVariable", "GetEnvironmentStrings"},
}

// environmentFiles is where Linux shows the environment of a process.
const environmentFiles = "/environ"

// EnvReads finds places in the packages that match patterns which read the
// process's environment, whatever name its package is imported under, also
// where the function is only named. A tool gets its settings and secrets from
// what it declares; a handler that reads the environment works on one machine
// only.
func EnvReads(patterns []string, files []File) []string {
	var found []string
	for _, file := range files {
		if file.Test || !matchAny(patterns, file.Package) {
			continue
		}
		add := func(pos token.Pos, what string) {
			found = append(found, fmt.Sprintf("%s: %s: a tool declares the environment it needs and gets it handed in", file.At(pos), what))
		}
		readers := readersIn(file.Syntax, add)
		ast.Inspect(file.Syntax, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.SelectorExpr:
				pkg, ok := n.X.(*ast.Ident)
				if !ok {
					return true
				}
				if from := readers[pkg.Name]; slices.Contains(environmentReaders[from], n.Sel.Name) {
					add(n.Sel.Pos(), from+"."+n.Sel.Name)
				}
			case *ast.BasicLit:
				text, err := strconv.Unquote(n.Value)
				if err == nil && n.Kind == token.STRING && strings.HasPrefix(text, "/proc/") && strings.HasSuffix(text, environmentFiles) {
					add(n.Pos(), text)
				}
			}
			return true
		})
	}
	return found
}

// readersIn are the packages with readers that a file imports, by the name it
// uses for them. A dot import hides where a name comes from, and linkname where
// a function is: both are found by themselves.
func readersIn(file *ast.File, add func(token.Pos, string)) map[string]string {
	readers := map[string]string{}
	for _, spec := range file.Imports {
		from, err := strconv.Unquote(spec.Path.Value)
		if _, reads := environmentReaders[from]; err != nil || !reads {
			continue
		}
		name := path.Base(from)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." {
			add(spec.Pos(), `import . "`+from+`"`)
		}
		readers[name] = from
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname ") {
				add(c.Pos(), "//go:linkname")
			}
		}
	}
	return readers
}
