package agentfile

import (
	"strings"

	"github.com/goccy/go-yaml/token"

	"github.com/turnkeel/turnkeel/internal/yamlbound"
)

// parsable reports, before it is parsed, a file that has too much structure, and
// what the YAML reader would read wrong.
func (r *reader) parsable(tokens token.Tokens) bool {
	if at, problem := yamlbound.Check(tokens); problem != "" {
		r.report(placeOf(at), "%s", problem)
		return false
	}
	return r.tabs(tokens)
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
