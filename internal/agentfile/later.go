package agentfile

import "github.com/goccy/go-yaml/ast"

// laterKeys are keys of the format that this version does not know how to
// honour, and so must not pass over in silence.
func laterKeys() []string {
	return []string{
		"subagents", "agents", "processes", "sandbox",
	}
}

// later refuses a key of a later feature, unless its value asks for nothing.
func (r *reader) later(key string, n ast.Node) {
	if !asksNothing(key, n) {
		r.report(at(n), "%s is not available yet; remove it", key)
	}
}

// asksNothing says whether the value of a later key leaves its feature off. A
// value of another type does not: it may mean anything.
func asksNothing(key string, n ast.Node) bool {
	if isNull(n) {
		return true
	}
	switch v := n.(type) {
	case *ast.BoolNode:
		return key == "sandbox" && !v.Value
	case *ast.SequenceNode:
		return key == "subagents" && len(v.Values) == 0
	case *ast.MappingNode:
		return (key == "processes" || key == "agents") && emptyLists(key, v)
	}
	return false
}

// emptyLists says whether a mapping has no key, or for agents only those of the
// format, each with no name in it.
func emptyLists(key string, m *ast.MappingNode) bool {
	for _, pair := range m.Values {
		name, ok := pair.Key.(*ast.StringNode)
		if key != "agents" || !ok || name.Value != "can_call" && name.Value != "accept_from" {
			return false
		}
		if list, ok := pair.Value.(*ast.SequenceNode); !isNull(pair.Value) && (!ok || len(list.Values) > 0) {
			return false
		}
	}
	return true
}
