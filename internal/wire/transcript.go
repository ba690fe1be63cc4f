package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
)

const (
	maxName = 64 // of a tool, in OpenAI's rule [a-zA-Z0-9_-]{1,64}
	maxID   = 40 // of a tool call, in OpenAI's rule

	// bridgeText stands between a tool's result and a user's message, where an
	// endpoint wants the assistant's word there.
	bridgeText = "(I was interrupted here.)"

	// emptyText is what an assistant said that said nothing: endpoints refuse
	// an empty message of the assistant, and the model need not be misled.
	emptyText = "(no answer)"
)

// legal is the transcript as the endpoint takes it. The caller's messages are
// not changed.
func (c *Client) legal(r Request) []contract.Message {
	ids := idMap{style: c.endpoint.Settings.ToolCallIDs, to: map[string]string{}, taken: map[string]bool{}}
	ids.keepLegal(r.Messages)
	var out []contract.Message
	for i, m := range r.Messages {
		if c.endpoint.Settings.UserAfterTool == "bridge" && i > 0 &&
			m.Role == contract.RoleUser && r.Messages[i-1].Role == contract.RoleTool {
			out = append(out, contract.Message{Role: contract.RoleAssistant, Content: bridgeText})
		}
		m = legalMessage(m)
		m.ToolCallID = ids.of(m.ToolCallID)
		for j := range m.ToolCalls {
			m.ToolCalls[j].ID = ids.of(m.ToolCalls[j].ID)
		}
		out = append(out, c.own(r, m))
	}
	return out
}

// own takes from a message what is not this endpoint's: reasoning text and
// private fields belong to where they came from.
func (c *Client) own(r Request, m contract.Message) contract.Message {
	ours := m.Origin == c.endpoint.Origin
	if !ours || r.Plain && r.echo != "even_empty" {
		m.Reasoning = ""
	}
	if !ours || r.Plain || c.endpoint.Settings.PrivateFields == "drop" {
		m.Extra = ""
		for i := range m.ToolCalls {
			m.ToolCalls[i].Extra = ""
		}
	}
	return m
}

// legalMessage replaces arguments that are no JSON object by an empty one, and
// names that no tool may have: an endpoint would refuse every later request of
// the turn for them.
func legalMessage(m contract.Message) contract.Message {
	calls := make([]contract.ToolCall, len(m.ToolCalls))
	for i, call := range m.ToolCalls {
		if !isObject(call.Args) {
			call.Args = "{}"
		}
		call.Name = legalName(call.Name)
		calls[i] = call
	}
	m.ToolCalls = calls
	m.Content = clean(m.Content)
	return m
}

// legalName is a name as OpenAI takes it in a transcript.
func legalName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), maxName)]
}

// idMap maps the ids of calls to ones that are legal at the endpoint. It is a
// function of the transcript alone, so each request maps alike.
type idMap struct {
	style string
	to    map[string]string
	taken map[string]bool
}

// keepLegal takes the ids that may stay, so that no mapped one becomes theirs.
func (m *idMap) keepLegal(messages []contract.Message) {
	for _, msg := range messages {
		for _, call := range msg.ToolCalls {
			if m.legal(call.ID) {
				m.taken[call.ID] = true
			}
		}
	}
}

func (m *idMap) legal(id string) bool {
	switch m.style {
	case "alnum_9":
		return len(id) == 9 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
	case "max_40":
		return len(id) <= maxID
	}
	return true
}

func (m *idMap) of(id string) string {
	if id == "" || m.legal(id) {
		return id
	}
	if to, ok := m.to[id]; ok {
		return to
	}
	for n := 0; ; n++ {
		to := shortID(id, n)
		if !m.taken[to] {
			m.to[id], m.taken[to] = to, true
			return to
		}
	}
}

// shortID is nine letters and digits, made of an id.
func shortID(id string, n int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(n) + " " + id))
	digits := strconv.FormatUint(binary.BigEndian.Uint64(sum[:]), 36)
	return (digits + "000000000")[:9]
}
