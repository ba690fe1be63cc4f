package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// File is one Go file of the module.
type File struct {
	Path    string // relative to the module
	Package string // the directory it is in, relative to the module, "." for the root
	Test    bool   // a _test.go file
	Syntax  *ast.File
	Set     *token.FileSet
}

// Imports lists what the file imports.
func (f File) Imports() []string {
	var paths []string
	for _, spec := range f.Syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// At is where pos stands, for messages.
func (f File) At(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", f.Path, f.Set.Position(pos).Line)
}

// Load parses every Go file of the module at root. As the go command does, it
// leaves out nested modules, testdata and names that begin with "." or "_".
func Load(root fs.FS) ([]File, error) {
	var files []File
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return enter(root, name)
		case hidden(name) || path.Ext(name) != ".go":
			return nil
		}
		file, err := parse(root, name)
		if err != nil {
			return err
		}
		files = append(files, file)
		return nil
	})
	return files, err
}

func hidden(name string) bool {
	base := path.Base(name)
	return name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"))
}

// enter is fs.SkipDir for a directory that holds no package of this module.
func enter(root fs.FS, dir string) error {
	if dir == "." {
		return nil
	}
	if hidden(dir) || path.Base(dir) == "testdata" || path.Base(dir) == "node_modules" {
		return fs.SkipDir
	}
	if _, err := fs.Stat(root, path.Join(dir, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func parse(root fs.FS, name string) (File, error) {
	src, err := fs.ReadFile(root, name)
	if err != nil {
		return File{}, err
	}
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return File{}, err
	}
	return File{
		Path: name, Package: path.Dir(name), Test: strings.HasSuffix(name, "_test.go"),
		Syntax: syntax, Set: set,
	}, nil
}
