package scripted

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// nestedAlias finds an alias within what has an anchor: a few lines of them stand
// for more than any memory holds. A text that cannot be parsed has none.
func nestedAlias(data []byte) (Problem, bool) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return Problem{}, false
	}
	var found Problem
	for _, doc := range file.Docs {
		if doc.Body != nil {
			ast.Walk(aliasVisitor{&found, false}, doc.Body)
		}
	}
	return found, found.Text != ""
}

type aliasVisitor struct {
	found    *Problem
	anchored bool
}

// Visit notes the first alias that is within an anchor.
func (v aliasVisitor) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.AnchorNode:
		v.anchored = true
	case *ast.AliasNode:
		if v.anchored && v.found.Text == "" {
			at := n.GetToken().Position
			*v.found = Problem{Line: at.Line, Column: at.Column, Text: "an alias within what has an anchor; write it out"}
		}
	}
	return v
}
