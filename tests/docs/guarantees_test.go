package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const guarantees = "docs/guarantees.md"

// toolIDs are the rows of the tool contract.
func toolIDs() []string {
	var ids []string
	for n := 1; n <= 68; n++ {
		if n <= 12 || n >= 20 && n <= 28 || n >= 30 && n <= 50 || n >= 60 {
			ids = append(ids, "T"+string(rune('0'+n/10))+string(rune('0'+n%10)))
		}
	}
	return ids
}

// caseIDs are the cases from the field that the tool contract answers for.
func caseIDs() []string {
	return strings.Fields("B01 B02 B03 B04 B06 B08 B10 B13 P03 P07 P08 P11 P14 P15 P17 P18 P20 P21 P22 P25")
}

// TestGuarantees_EveryIDHasItsTests: each id of the tool contract, and each case
// that it answers for, has one row with a test, and each test that a row names exists.
func TestGuarantees_EveryIDHasItsTests(t *testing.T) {
	t.Parallel()
	rows := map[string]string{}
	for _, cells := range tableRows(documents(t)[guarantees]) {
		if len(cells) != 3 || !regexp.MustCompile(`^[TBP]\d\d$`).MatchString(cells[0]) {
			continue
		}
		if _, twice := rows[cells[0]]; twice {
			t.Errorf("%s has two rows", cells[0])
		}
		rows[cells[0]] = cells[2]
	}
	for _, id := range append(toolIDs(), caseIDs()...) {
		tests, has := rows[id]
		delete(rows, id)
		named := inline.FindAllStringSubmatch(tests, -1)
		switch {
		case !has:
			t.Errorf("%s has no row", id)
		case len(named) == 0:
			t.Errorf("%s has no test", id)
		}
		for _, m := range named {
			if !testExists(t, m[1]) {
				t.Errorf("%s names %s, which does not exist", id, m[1])
			}
		}
	}
	for id := range rows {
		t.Errorf("%s is no id of the tool contract", id)
	}
}

// TestGuarantees_EveryFailureHasItsTests: each line of the table of failures
// names tests that exist.
func TestGuarantees_EveryFailureHasItsTests(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(documents(t)[guarantees], "\n## What is promised, under which failure\n")
	section, _, _ = strings.Cut(section, "\n## ")
	lines := 0
	for _, cells := range tableRows(section) {
		if len(cells) != 3 || cells[0] == "failure" || strings.HasPrefix(cells[0], "---") {
			continue
		}
		lines++
		named := inline.FindAllStringSubmatch(cells[2], -1)
		if len(named) == 0 {
			t.Errorf("%q has no test", cells[0])
		}
		for _, m := range named {
			if !testExists(t, m[1]) {
				t.Errorf("%q names %s, which does not exist", cells[0], m[1])
			}
		}
	}
	if lines < 10 {
		t.Errorf("only %d failures were found: this test no longer fits the document", lines)
	}
}

// tableRows are the cells of all table rows of a document, trimmed.
func tableRows(text string) [][]string {
	var rows [][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows
}

// testExists looks for a test, fuzz test, example or benchmark that is named by its
// package's folder and its function: "tooldefs.TestT07_Results".
func testExists(t *testing.T, name string) bool {
	t.Helper()
	dot := strings.LastIndex(name, ".")
	if dot < 0 {
		return false
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(name[:dot]), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range source.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == name[dot+1:] {
				return regexp.MustCompile(`^(Test|Fuzz|Example|Benchmark)`).MatchString(f.Name.Name)
			}
		}
	}
	return false
}

var (
	classHead = regexp.MustCompile(`^(AtMostOnce|Keyed|SafeToRetry), for `)
	classLine = regexp.MustCompile(`^  - ([a-z ]+): (.+)$`)
)

// TestGuarantees_ClassTable: the document and the doc of tooldefs.Class say the
// same in the same words.
func TestGuarantees_ClassTable(t *testing.T) {
	t.Parallel()
	written := map[string]map[string]string{}
	var classes []string
	for _, cells := range tableRows(documents(t)[guarantees]) {
		switch {
		case len(cells) != 4 || strings.HasPrefix(cells[0], "---"):
		case cells[0] == "":
			for _, c := range cells[1:] {
				classes = append(classes, strings.Trim(c, "`"))
				written[strings.Trim(c, "`")] = map[string]string{}
			}
		default:
			for i, c := range classes {
				written[c][cells[0]] = cells[1+i]
			}
		}
	}
	coded, class := map[string]map[string]string{}, ""
	for line := range strings.Lines(docOfClass(t)) {
		line = strings.TrimRight(line, "\n")
		if m := classHead.FindStringSubmatch(line); m != nil {
			class = m[1]
			coded[class] = map[string]string{}
		}
		if m := classLine.FindStringSubmatch(line); m != nil {
			coded[class][m[1]] = m[2]
		}
	}
	if len(coded) != 3 || len(coded["Keyed"]) != 4 {
		t.Fatalf("the doc of tooldefs.Class reads as %v", coded)
	}
	if diff := cmp.Diff(coded, written); diff != "" {
		t.Errorf("tooldefs/class.go and %s differ:\n%s", guarantees, diff)
	}
}

// docOfClass is the comment of tooldefs.Class.
func docOfClass(t *testing.T) string {
	t.Helper()
	file := filepath.Join(root, "tooldefs", "class.go")
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range source.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || len(gen.Specs) != 1 {
			continue
		}
		if spec, ok := gen.Specs[0].(*ast.TypeSpec); ok && spec.Name.Name == "Class" {
			return gen.Doc.Text()
		}
	}
	t.Fatal("tooldefs.Class has no doc")
	return ""
}
