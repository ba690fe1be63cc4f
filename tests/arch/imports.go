package arch

import (
	"fmt"
	"slices"
	"strings"
)

// module is the path of the module that the tables are about.
const module = "github.com/turnkeel/turnkeel"

// Imports holds files against the import table and gives one sentence for
// each violation.
func Imports(rows []Row, files []File) []string {
	var found []string
	unknown := map[string]bool{}
	for _, file := range files {
		row, ok := rowOf(rows, file.Package)
		if !ok && !unknown[file.Package] {
			unknown[file.Package] = true
			found = append(found, fmt.Sprintf(
				"package %s has no row: add it to the table in tests/arch/table.go, with what it may import and why", file.Package))
		}
		for _, imp := range file.Imports() {
			if problem := judge(row, ok, file, imp); problem != "" {
				found = append(found, problem)
			}
		}
	}
	return found
}

func judge(row Row, known bool, file File, imp string) string {
	ours, isOurs := relative(imp)
	switch {
	case isOurs && (ours == "devserver" || strings.HasPrefix(ours, "devserver/")):
		return fmt.Sprintf("%s imports %s: the devserver is a module of its own and runs as a process (internal/devproc)", file.Path, ours)
	case file.Test || !known:
		return "" // a test may look at every package of ours and use any library
	case isOurs && !matchAny(row.Ours, ours):
		return fmt.Sprintf("%s imports %s: %s may import of ours only %s, because %s (row %q of tests/arch/table.go)",
			file.Path, ours, file.Package, list(row.Ours), row.Why, row.Package)
	case isOurs:
		return ""
	}
	for _, ban := range row.Never {
		if ban.bans(imp) {
			return fmt.Sprintf("%s imports %s: %s must not import %s, because %s (row %q of tests/arch/table.go)",
				file.Path, imp, file.Package, ban.Name, row.Why, row.Package)
		}
	}
	return ""
}

// Libraries holds files against the library table.
func Libraries(libs []Library, files []File) []string {
	var found []string
	for _, file := range files {
		for _, imp := range file.Imports() {
			for _, lib := range libs {
				if file.Test || !below(imp, lib.Path) || matchAny(lib.Packages, file.Package) {
					continue
				}
				found = append(found, fmt.Sprintf("%s imports %s: only %s may, because %s (libraries in tests/arch/table.go)",
					file.Path, imp, list(lib.Packages), lib.Why))
			}
		}
	}
	return found
}

// Unused lists rows that match no package: a table that promises something
// about nothing hides a renamed package.
func Unused(rows []Row, files []File) []string {
	var found []string
	for _, row := range rows {
		if !slices.ContainsFunc(files, func(f File) bool { return match(row.Package, f.Package) }) {
			found = append(found, row.Package)
		}
	}
	return found
}

func rowOf(rows []Row, pkg string) (Row, bool) {
	i := slices.IndexFunc(rows, func(r Row) bool { return match(r.Package, pkg) })
	if i < 0 {
		return Row{}, false
	}
	return rows[i], true
}

// relative is an import path of this module relative to it.
func relative(imp string) (string, bool) {
	if imp == module {
		return ".", true
	}
	return strings.CutPrefix(imp, module+"/")
}

func (b Ban) bans(imp string) bool {
	under := func(p string) bool { return below(imp, p) }
	return slices.ContainsFunc(b.Paths, under) && !slices.ContainsFunc(b.Except, under)
}

// below says whether imp is p or lies under it. "*.*/" stands for every
// path whose first element has a dot: all but the standard library.
func below(imp, p string) bool {
	if p == "*.*/" {
		first, _, _ := strings.Cut(imp, "/")
		return strings.Contains(first, ".")
	}
	return imp == p || strings.HasPrefix(imp, p+"/")
}

func matchAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, pkg) })
}

// match reads the patterns that Row describes.
func match(pattern, pkg string) bool {
	if pattern == "..." {
		return true
	}
	if dir, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == dir || strings.HasPrefix(pkg, dir+"/")
	}
	if dir, ok := strings.CutSuffix(pattern, "/*"); ok {
		rest, below := strings.CutPrefix(pkg, dir+"/")
		return below && !strings.Contains(rest, "/")
	}
	return pattern == pkg
}

func list(patterns []string) string {
	if len(patterns) == 0 {
		return "nothing"
	}
	return strings.Join(patterns, ", ")
}
