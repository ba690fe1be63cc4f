package wire

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
)

// call is a tool call that is being put together.
type call struct {
	id, name string
	args     []byte // grows with each fragment
	extra    privateFields
	index    int // -1: the server gave none
}

// callList puts tool calls together from fragments of servers that number
// them, name them, do both, or neither.
type callList struct {
	list []*call
	size int
}

// add takes in a fragment; position is its place in its chunk.
func (l *callList) add(f fragment, position int) {
	c := l.target(f, position)
	if c == nil {
		c = &call{index: -1}
		if f.Index != nil {
			c.index = int(*f.Index)
		}
		l.list = append(l.list, c)
	}
	if c.id == "" {
		c.id = string(f.ID)
	}
	if c.name == "" {
		c.name = string(f.Function.Name) // never joined: a later name is a repeat
	}
	l.size += c.extra.add(f.privateFields)
	l.size += len(f.Function.Arguments)
	c.append(string(f.Function.Arguments))
}

// target is the call that a fragment continues; nil when it opens one.
func (l *callList) target(f fragment, position int) *call {
	c := l.candidate(f)
	if c == nil {
		return nil
	}
	id, name := string(f.ID), string(f.Function.Name)
	if id != "" && c.id != "" && id != c.id {
		return nil // a new id on a known index is a new call
	}
	if name == "" {
		return c // nothing but arguments
	}
	if c.name != "" && name != c.name && c.whole() {
		return nil
	}
	if id != "" && id == c.id {
		// Repeats the id on each fragment, or gives every call the same one.
		if c.opens(f) {
			return nil
		}
		return c
	}
	if c.id == "" && c.name == "" {
		return c
	}
	// A name without an id: another call, unless this one is still open.
	if c.whole() || f.Index == nil && position > 0 {
		return nil
	}
	return c
}

// candidate is the last call with the fragment's index, or, without an index,
// the one with its id, or simply the last.
func (l *callList) candidate(f fragment) *call {
	if len(l.list) == 0 {
		return nil
	}
	if f.Index != nil {
		for i := len(l.list) - 1; i >= 0; i-- {
			if l.list[i].index == int(*f.Index) {
				return l.list[i]
			}
		}
		if f.ID != "" || f.Function.Name != "" {
			return nil
		}
	} else if f.ID != "" {
		for i := len(l.list) - 1; i >= 0; i-- {
			if l.list[i].id == string(f.ID) {
				return l.list[i]
			}
		}
	}
	return l.list[len(l.list)-1]
}

// whole says that the arguments are complete, and not the placeholder that
// some bridges open a call with. It reads them all, so ask it last: arguments
// may come in a million pieces.
func (c *call) whole() bool {
	args := bytes.TrimSpace(c.args)
	return len(args) > 0 && string(args) != "{}" && json.Valid(args)
}

// opens says that a fragment with the same id is another call: ours is whole
// and it begins arguments of its own that are not a mere repeat.
func (c *call) opens(f fragment) bool {
	args := strings.TrimSpace(string(f.Function.Arguments))
	return strings.HasPrefix(args, "{") && args != string(bytes.TrimSpace(c.args)) && c.whole()
}

// append adds arguments. A placeholder is replaced by what follows it, and
// the whole arguments once more (a server that sums up) change nothing.
func (c *call) append(args string) {
	trimmed := strings.TrimSpace(args)
	had := bytes.TrimSpace(c.args)
	switch {
	case trimmed == "" && (len(c.args) == 0 || ended(had) && c.whole()):
	case string(had) == "{}" && strings.HasPrefix(trimmed, "{"):
		c.args = []byte(args)
	case (trimmed == string(had) || trimmed == "{}") && c.whole():
	default:
		c.args = append(c.args, args...)
	}
}

// ended says that arguments may be whole, by their last byte alone.
func ended(args []byte) bool {
	return len(args) > 0 && strings.IndexByte(`}]"el0123456789`, args[len(args)-1]) >= 0
}

func (l *callList) all() []contract.ToolCall {
	var out []contract.ToolCall
	for _, c := range l.list {
		out = append(out, contract.ToolCall{ID: c.id, Name: c.name, Args: string(c.args), Extra: c.extra.object()})
	}
	return out
}
