// Package yamlbound says, before a YAML text is parsed, that it has too much
// structure: the parser's time and memory grow with the square of it, and it cannot
// be interrupted. It is pure; its entry point is [Check].
package yamlbound

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// What a person writes has far less.
const (
	MaxDepth  = 64     // of mappings and lists in each other
	MaxTokens = 50_000 // words and signs of a file
)

// Check gives the token from which on it is too much, and why; nil for a text that
// can be parsed. It takes time and memory in proportion to the tokens.
func Check(tokens token.Tokens) (at *token.Token, problem string) {
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
		case flow+len(columns) > MaxDepth:
			return t, fmt.Sprintf("nested more than %d deep", MaxDepth)
		case i == MaxTokens:
			return t, fmt.Sprintf("too much for one file from here on: more than %d words and signs; split it", MaxTokens)
		}
	}
	return nil, ""
}
