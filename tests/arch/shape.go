package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// vague are package names that say nothing about what is inside.
var vague = []string{"util", "utils", "common", "types", "helper", "helpers", "misc"}

// Inits finds init functions: what runs on import cannot be configured,
// tested or left out.
func Inits(files []File) []string {
	var found []string
	for _, file := range files {
		for _, decl := range file.Syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, file.At(fn.Pos())+": an init function: let a constructor do it, so that importing does nothing")
			}
		}
	}
	return found
}

// VagueNames finds packages that are named after nothing.
func VagueNames(files []File) []string {
	var found []string
	for _, file := range files {
		name := strings.TrimSuffix(file.Syntax.Name.Name, "_test")
		if slices.Contains(vague, name) {
			found = append(found, fmt.Sprintf("%s: package %s: name the package after what it provides", file.Path, name))
		}
	}
	return found
}
