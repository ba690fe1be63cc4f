package wire

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
)

// Repair gives the request in its plainest form, if e may have been caused by
// our own transcript; changed is false when it was not, or when there is
// nothing to make plainer. An endpoint that refuses the repaired request too
// is right, or will not be pleased: it is asked once.
//
// Plain means: no private fields, no reasoning text; every call answered, every
// answer to a call, ids unique; arguments that were refused, or that a strict
// parser stumbles over, replaced by an empty object.
func (c *Client) Repair(r Request, e *Error) (_ Request, changed bool) {
	if r.Plain || e.Kind != KindBadRequest || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return r, false
	}
	words := strings.ToLower(e.Message)
	if !anyOf(words, "messages", "message", "tool_call", "tool call", "toolcall", "function call", "functioncall",
		"argument", "role", "reasoning", "extra_content", "signature", "json", "assistant", "extra inputs", "extra_forbidden") {
		return r, false
	}
	before := c.legal(r)
	r.Plain = true
	if strings.Contains(words, "reasoning_content") {
		if mode := c.echo(r); mode == "" || mode == "never" {
			r.echo = "even_empty"
		} else {
			r.echo = "never"
		}
		changed = hasCalls(before)
	}
	r.Messages = paired(r.Messages)
	for i := range r.Messages {
		plainCalls(&r.Messages[i], r.Messages[i+1:])
		if m := &r.Messages[i]; m.Role == contract.RoleAssistant && m.Content == "" && len(m.ToolCalls) == 0 {
			m.Content = emptyText
		}
	}
	return r, changed || !slices.EqualFunc(before, c.legal(r), sameMessage)
}

func hasCalls(messages []contract.Message) bool {
	return slices.ContainsFunc(messages, func(m contract.Message) bool { return len(m.ToolCalls) > 0 })
}

func sameMessage(a, b contract.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && a.ToolCallID == b.ToolCallID && a.Reasoning == b.Reasoning &&
		a.Extra == b.Extra && slices.Equal(a.ToolCalls, b.ToolCalls)
}

// strange are escapes in arguments that strict parsers refuse: NUL, halves of
// surrogate pairs; and numbers that no float holds.
var strange = regexp.MustCompile(`(?i)\\u(0000|d[89a-f][0-9a-f]{2})|[0-9][eE]\+?[0-9]{3,}`)

// plainCalls replaces arguments that may be what the endpoint refuses. results
// are the messages that follow.
func plainCalls(m *contract.Message, results []contract.Message) {
	calls := slices.Clone(m.ToolCalls)
	for i, call := range calls {
		if i < len(results) && strings.HasPrefix(results[i].Content, "error:") || strange.MatchString(call.Args) {
			calls[i].Args = "{}"
		}
	}
	m.ToolCalls = calls
}

// paired is the transcript with exactly one result for each call, right after
// it and in its order, and no result without a call. Ids are made unique.
func paired(messages []contract.Message) []contract.Message {
	used := map[string]bool{}
	var out []contract.Message
	for i, m := range messages {
		if m.Role == contract.RoleTool {
			continue // taken with its call
		}
		if len(m.ToolCalls) == 0 {
			out = append(out, m)
			continue
		}
		m.ToolCalls = slices.Clone(m.ToolCalls)
		results := make([]contract.Message, len(m.ToolCalls))
		taken := map[int]bool{}
		for j, call := range m.ToolCalls {
			results[j] = resultOf(call, messages[i+1:], taken)
			id := call.ID
			for n := 1; id == "" || used[id]; n++ {
				id = "call_" + strconv.Itoa(len(used)+n)
			}
			used[id] = true
			m.ToolCalls[j].ID, results[j].ToolCallID = id, id
		}
		out = append(append(out, m), results...)
	}
	return out
}

// resultOf is the first result of a call, among those that follow, that is not
// taken yet; or one that says that there is none.
func resultOf(call contract.ToolCall, following []contract.Message, taken map[int]bool) contract.Message {
	for k, m := range following {
		if m.Role != contract.RoleTool {
			break
		}
		if m.ToolCallID == call.ID && !taken[k] {
			taken[k] = true
			return m
		}
	}
	return contract.Message{Role: contract.RoleTool, Content: "error: no result was recorded"}
}
