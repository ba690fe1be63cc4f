package mcptools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// maxDepth is how deep a message may nest: the SDK ends the session for one
	// that nests deeper than 1000 levels.
	maxDepth = 900

	// lostCode is of an answer that cannot be read: see [onTheWay].
	lostCode = -32000

	// The codes by which the SDK says that a message was never sent, since the
	// connection had ended. A server that answers by one of them has got it.
	clientClosing, serverClosing = -32003, -32004

	noResultMeta = "turnkeel.no_result" // stands in _meta of a result that was null
)

// messages are the messages that a line begins with, one a line; what is none
// is left out.
func messages(line []byte) []byte {
	if len(line) == 0 || line[0] != '{' && line[0] != '[' {
		return nil
	}
	var out []byte
	for rest := line; len(rest) > 0; {
		one := rest
		if !json.Valid(rest) { // several on a line, or something behind one
			one = firstValue(rest)
		}
		for _, m := range fitAll(one) {
			out = append(append(out, m...), '\n')
		}
		if rest = bytes.TrimSpace(rest[len(one):]); len(rest) == 0 || rest[0] != '{' {
			break
		}
	}
	return out
}

// firstValue is the object or list that data begins with, or all of data when
// it does not end.
func firstValue(data []byte) []byte {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return data[:i+1]
			}
		}
	}
	return data
}

// fitAll are the messages of what is one message, or a list of them.
func fitAll(raw []byte) [][]byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		if m, ok := fit(raw); ok {
			return [][]byte{m}
		}
		return nil
	}
	var all []json.RawMessage
	if json.Unmarshal(mended(raw), &all) != nil {
		return nil
	}
	var out [][]byte
	for _, one := range all {
		if m, ok := fit(one); ok {
			out = append(out, m)
		}
	}
	return out
}

// fit makes a message one that the SDK reads without loss; ok is false for what
// is no message, which would end the session. A response that cannot be read
// becomes an error of its call that leaves the outcome open.
func fit(raw []byte) (message []byte, ok bool) {
	raw = mended(bytes.TrimSpace(raw))
	if depthOf(raw) > maxDepth {
		return unreadable(raw, "the server's answer nests too deeply to be read")
	}
	var e map[string]json.RawMessage
	if json.Unmarshal(raw, &e) != nil || e == nil {
		return unreadable(raw, "the server's answer is no JSON")
	}
	_, isRequest := e["method"]
	if _, answered := e["result"]; isRequest && !answered && e["error"] == nil {
		_, err := jsonrpc.DecodeMessage(raw)
		return raw, err == nil && isWanted(e)
	}
	if !isResponse(e) {
		return nil, false
	}
	delete(e, "method") // some repeat the request's
	changed := fitID(e) || isRequest
	changed = fitError(e) || changed
	changed = fitResult(e) || changed
	if changed {
		out, err := json.Marshal(e)
		if err != nil {
			return nil, false
		}
		raw = out
	}
	bare, err := json.Marshal(map[string]json.RawMessage{"jsonrpc": e["jsonrpc"], "id": e["id"]})
	if err == nil {
		_, err = jsonrpc.DecodeMessage(bare)
	}
	return raw, err == nil
}

// isWanted says that somebody here listens to a request or notification. All
// others cost the SDK more than they are worth, and it keeps what it has not dealt
// with without a bound.
func isWanted(e map[string]json.RawMessage) bool {
	if id, has := e["id"]; has && string(id) != "null" {
		return true
	}
	var method string
	if json.Unmarshal(e["method"], &method) != nil {
		return false
	}
	switch method {
	case "notifications/progress", "notifications/tools/list_changed", "notifications/cancelled":
		return true
	}
	return false
}

// isResponse tells a response from a line of a log that is JSON. One without
// its version counts when it has nothing that a response has not.
func isResponse(e map[string]json.RawMessage) bool {
	id, hasID := e["id"]
	if !hasID || string(id) == "null" {
		return false
	}
	if string(e["jsonrpc"]) == `"2.0"` {
		return true
	}
	_, hasVersion := e["jsonrpc"]
	_, hasResult := e["result"]
	_, hasError := e["error"]
	if hasVersion || len(e) != 2 || !hasResult && !hasError {
		return false
	}
	e["jsonrpc"] = json.RawMessage(`"2.0"`)
	return true
}

// fitID makes a number again of the number that a server sends back as a text.
func fitID(e map[string]json.RawMessage) bool {
	var text string
	if json.Unmarshal(e["id"], &text) != nil {
		return false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return false
	}
	e["id"] = json.RawMessage(strconv.FormatInt(n, 10))
	return true
}

// fitError keeps what an error says that is not of the protocol's form. It is
// written anew, so that nobody reads another code in it than we do.
func fitError(e map[string]json.RawMessage) bool {
	raw, has := e["error"]
	switch {
	case !has:
		return false
	case string(raw) == "null":
		delete(e, "error")
		return true
	}
	var form struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}
	delete(e, "result")
	if json.Unmarshal(raw, &form) != nil {
		e["error"] = lost(string(raw))
		return true
	}
	switch form.Code {
	case clientClosing, serverClosing:
		form.Code = lostCode
	}
	out, err := json.Marshal(form)
	if err != nil {
		out = lost(form.Message)
	}
	e["error"] = out
	return true
}

// lost is an error of what a server sent and nobody can read.
func lost(text string) json.RawMessage {
	if len(text) > maxPartial { // not less: half a secret is not known any more
		text = text[:maxPartial] + "…"
	}
	out, err := json.Marshal(map[string]any{"code": lostCode, "message": text})
	if err != nil {
		return json.RawMessage(fmt.Sprintf(`{"code":%d}`, lostCode))
	}
	return out
}

// depthOf is how deep the lists and objects of data nest.
func depthOf(data []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
