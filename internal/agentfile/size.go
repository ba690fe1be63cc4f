package agentfile

import (
	"strings"

	"github.com/goccy/go-yaml/token"
)

// How much structure a file may have: what a person writes has far less, and the
// YAML reader's time grows with the square of it.
const (
	maxDepth  = 64
	maxTokens = 50_000
)

// parsable reports a file that has too much structure, before it is parsed, and
// what the YAML reader would read wrong.
func (r *reader) parsable(tokens token.Tokens) bool {
	if !r.tabs(tokens) {
		return false
	}
	flow := 0
	var columns []int // of the blocks that are open
	for i, t := range tokens {
		column := 0
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow = max(0, flow-1)
		case token.SequenceEntryType, token.MappingKeyType:
			column = t.Position.Column
		case token.MappingValueType:
			column = t.Position.Column
			if i > 0 {
				column = tokens[i-1].Position.Column // where its key begins
			}
		}
		if column > 0 && flow == 0 {
			for len(columns) > 0 && columns[len(columns)-1] >= column {
				columns = columns[:len(columns)-1]
			}
			columns = append(columns, column)
		}
		switch {
		case flow+len(columns) > maxDepth:
			r.report(placeOf(t), "nested more than %d deep", maxDepth)
			return false
		case i == maxTokens:
			r.report(placeOf(t), "too much for one file from here on: more than %d words and signs; split it", maxTokens)
			return false
		}
	}
	return true
}

// tabs reports tabs that the YAML reader drops, from text without quotes, or that
// it loses a line end after, in double quotes. Elsewhere they are read as they are.
func (r *reader) tabs(tokens token.Tokens) bool {
	good, block := true, false
	for _, t := range tokens {
		switch t.Type {
		case token.LiteralType, token.FoldedType:
			block = true
			continue
		case token.CommentType:
			continue
		case token.StringType, token.DoubleQuoteType:
			if !block && strings.Contains(strings.Trim(t.Origin, " \t\n"), "\t") {
				r.report(placeOf(t), `a tab within text; put the text into double quotes, and write the tab as \t`)
				good = false
			}
		}
		block = false
	}
	return good
}
