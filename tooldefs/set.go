package tooldefs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
)

// Set is the tools of an agent: what the model is shown and what can be run.
// It does not change and is safe for concurrent use.
type Set struct {
	tools  []*Tool
	byName map[string]*Tool
}

// NewSet puts tools together. Two tools of one name are an error that says
// where both come from.
func NewSet(tools ...*Tool) (*Set, error) {
	s := &Set{byName: make(map[string]*Tool, len(tools))}
	for _, t := range tools {
		if t == nil {
			return nil, errors.New("tooldefs: a tool of the set is nil")
		}
		if old, twice := s.byName[t.Name()]; twice {
			return nil, fmt.Errorf("tooldefs: two tools are named %q: %s (%q) and %s (%q)", t.Name(),
				old.Origin(), clip(old.Description(), 60), t.Origin(), clip(t.Description(), 60))
		}
		s.byName[t.Name()] = t
		s.tools = append(s.tools, t)
	}
	return s, nil
}

// Tools are the tools in the order of their definition.
func (s *Set) Tools() []*Tool { return slices.Clone(s.tools) }

// Names are the tools' names in the order of their definition.
func (s *Set) Names() []string {
	out := make([]string, len(s.tools))
	for i, t := range s.tools {
		out[i] = t.Name()
	}
	return out
}

// Lookup finds a tool by the name a model wrote: the exact name, or that name
// in one of the two wrappers that models are known to add, "functions.x" and
// "x:0". Nothing is guessed.
func (s *Set) Lookup(name string) (*Tool, bool) {
	if t, ok := s.byName[name]; ok {
		return t, true
	}
	name = strings.TrimPrefix(name, "functions.")
	if base, index, ok := strings.Cut(name, ":"); ok && isIndex(index) {
		name = base
	}
	t, ok := s.byName[name]
	return t, ok
}

func isIndex(s string) bool {
	return s != "" && len(s) <= 6 && strings.Trim(s, "0123456789") == ""
}

// ModelTool is what a model request says of a tool.
type ModelTool struct {
	Name        string
	Description string
	Schema      string // JSON Schema of the arguments
}

// ModelTools is the schema-only list for a model request, in the order of
// definition. It carries no handler.
func (s *Set) ModelTools() []ModelTool {
	out := make([]ModelTool, len(s.tools))
	for i, t := range s.tools {
		out[i] = ModelTool{Name: t.Name(), Description: t.Description(), Schema: t.InputSchema()}
	}
	return out
}

// Call runs a tool directly, through the same gates and under the same
// timeout as in a turn, with a call that a test would make up. The error is a
// [*CallError] around an [*UnknownToolError], an [*ArgumentsError], or one of
// [Tool.Run].
//
// A handler may call another tool so, with its own ctx: it runs as a part of the
// handler's own call, with no record, approval or retry of its own. Tools that
// call each other more than 32 deep are refused.
func (s *Set) Call(ctx context.Context, name, args string) (contract.ToolResult, error) {
	return s.CallWith(ctx, CallInfo{Turn: "direct", Ordinal: 1, Attempt: 1}, name, args)
}

// CallWith is [Set.Call] with a call of your own making. An empty Key becomes
// one that depends on tool and arguments only; inside a handler, give it one
// made from the handler's own key.
func (s *Set) CallWith(ctx context.Context, info CallInfo, name, args string) (contract.ToolResult, error) {
	result, err := s.call(ctx, info, name, args)
	if err != nil {
		return contract.ToolResult{}, &CallError{Tool: name, Err: err}
	}
	return result, nil
}

// maxNested bounds how deep tools may call each other: one that calls itself
// without end is told so before it takes the worker's memory.
const maxNested = 32

// nestedKey counts in a ctx how deep a call is in others.
type nestedKey struct{}

func (s *Set) call(ctx context.Context, info CallInfo, name, args string) (contract.ToolResult, error) {
	depth, _ := ctx.Value(nestedKey{}).(int)
	if depth >= maxNested {
		return contract.ToolResult{}, NotExecuted(fmt.Errorf("tools call each other more than %d deep", maxNested))
	}
	ctx = context.WithValue(ctx, nestedKey{}, depth+1)
	t, ok := s.Lookup(name)
	if !ok {
		return contract.ToolResult{}, &UnknownToolError{Name: name, Valid: s.Names()}
	}
	checked := t.Check(args)
	if checked.Problem != "" {
		return contract.ToolResult{}, &ArgumentsError{Tool: t.Name(), Problem: checked.Problem}
	}
	override, overridden, err := t.OverrideKey(checked.Canonical)
	if err != nil {
		return contract.ToolResult{}, NotExecuted(err)
	}
	info.Tool = t.Name()
	if info.Key == "" && overridden {
		info.Key = "direct-" + digestOf("override", t.Name(), override)
	} else if info.Key == "" {
		info.Key = "direct-" + digestOf("call", t.Name(), checked.Canonical)
	}
	return t.Run(ctx, NewCall(info), checked.Canonical)
}
