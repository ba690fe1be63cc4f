package mcptools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnkeel/turnkeel/contract"
)

// D01, P16, T62, T63: what a server answers becomes a result or an error of the
// call, and never the other one.
func TestResults(t *testing.T) {
	t.Parallel()
	s := newScripted(t, script{Tools: oneTool("ask", "Asks.", textSchema)})
	tool := s.connect(Options{}).Tools()[0]
	for _, tt := range []struct {
		name, result string
		fails        bool
		want         string // the whole of a result, or a part of an error
	}{
		{"an error with structured data", `{"isError":true,"content":[{"type":"text","text":"db refused"}],"structuredContent":{"answer":42}}`, true, "db refused\n{\"answer\":42}"},
		{"an error without text", `{"isError":true,"content":[],"structuredContent":{"code":"RATE"}}`, true, `{"code":"RATE"}`},
		{"an error that says nothing", `{"isError":true,"content":[]}`, true, "says nothing about it"},
		{"an error without content", `{"isError":true}`, true, "says nothing about it"},
		{"an error with null for data", `{"isError":true,"content":[{"type":"text","text":"no"}],"structuredContent":null}`, true, "no"},
		{"an error in an image", `{"isError":true,"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}`, true, "[image: image/png, 2 bytes, not shown]"},
		{"an error with the same text twice", `{"isError":true,"content":[{"type":"text","text":"{\"code\":1}"}],"structuredContent":{"code":1}}`, true, `{"code":1}`},
		{"an error of unknown content", `{"isError":true,"content":[{"type":"hologram","x":1}]}`, true, `content of type "hologram"`},
		{"data without content", `{"content":[],"structuredContent":{"rows":3}}`, false, `{"rows":3}`},
		{"data beside its text", `{"content":[{"type":"text","text":"rows: 3"}],"structuredContent":{"rows":3}}`, false, `{"rows":3}`},
		{"empty data beside text", `{"content":[{"type":"text","text":"three rows"}],"structuredContent":{}}`, false, "three rows"},
		{"data that is a list", `{"content":[],"structuredContent":[1,2]}`, false, `[1,2]`},
		{"every digit", `{"content":[],"structuredContent":{"id":9007199254740993,"x":1e400}}`, false, `{"id":9007199254740993,"x":1e400}`},
		{"text that looks like an error", `{"content":[{"type":"text","text":"Error: not really"}]}`, false, "Error: not really"},
		{"isError false", `{"isError":false,"content":[{"type":"text","text":"fine"}]}`, false, "fine"},
		{"nothing", `{"content":[]}`, false, ""},
		{"not even content", `{}`, false, ""},
		{"several texts", `{"content":[{"type":"text","text":"a"},{"type":"text","text":""},{"type":"text","text":"b"}]}`, false, "a\nb"},
		{"a bare text", `{"content":"done"}`, false, "done"},
		{"one block without a list", `{"content":{"type":"text","text":"done"}}`, false, "done"},
		{"pictures and sounds", `{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"audio","data":"aGk=","mimeType":"audio/wav"}]}`, false,
			"[image: image/png, 2 bytes, not shown]\n[audio: audio/wav, 2 bytes, not shown]"},
		{"a picture that is none", `{"content":[{"type":"image","data":"%%","mimeType":"image/png"},{"type":"text","text":"x"}]}`, false, "[image: image/png, 0 bytes, not shown]\nx"},
		{"embedded text", `{"content":[{"type":"resource","resource":{"uri":"file:///a","text":"inside"}}]}`, false, "inside"},
		{"embedded bytes", `{"content":[{"type":"resource","resource":{"uri":"file:///a","mimeType":"application/zip","blob":"aGk="}}]}`, false, "[resource file:///a: application/zip, 2 bytes, not shown]"},
		{"a link", `{"content":[{"type":"resource_link","uri":"http://127.0.0.1:1/x","name":"report"}]}`, false, "[link, not fetched: http://127.0.0.1:1/x, report]"},
	} {
		s.set(script{Tools: oneTool("ask", "Asks.", textSchema), Result: json.RawMessage(tt.result)})
		result, v := run(t, tool, `{"text":"a"}`)
		got := result.Text
		if len(result.JSON) > 0 {
			got = string(result.JSON)
		}
		switch {
		case tt.fails && (v.Outcome != contract.OutcomeFailed || v.Retry || !strings.Contains(v.Text, tt.want)):
			t.Errorf("%s: got %+v", tt.name, v)
		case !tt.fails && (v.Outcome != contract.OutcomeDone || got != tt.want):
			t.Errorf("%s: got %q, %+v", tt.name, got, v)
		}
	}
}

// D01: an error of the protocol is the server's word: the call failed.
func TestProtocolErrors(t *testing.T) {
	t.Parallel()
	refuses := script{Tools: oneTool("ask", "Asks.", textSchema), Error: json.RawMessage(`{"code":-32602,"message":"no such account"}`)}
	s := newScripted(t, refuses)
	_, v := run(t, s.connect(Options{}).Tools()[0], `{"text":"a"}`)
	if v.Outcome != contract.OutcomeFailed || v.Retry || !strings.Contains(v.Text, "no such account (code -32602)") {
		t.Errorf("got %+v", v)
	}
}

// T66, D05: what a proxy says of a connection or a time that was lost on its
// other side is not the server's word.
func TestErrorsOnTheWay(t *testing.T) {
	t.Parallel()
	s := newScripted(t, script{Tools: oneTool("ask", "Asks.", textSchema)})
	tool := s.connect(Options{}).Tools()[0]
	for code, want := range map[int]contract.Outcome{
		-32000: contract.OutcomeUnknown, -32001: contract.OutcomeUnknown, -32005: contract.OutcomeUnknown,
		-32003: contract.OutcomeUnknown, -32004: contract.OutcomeUnknown, // what the SDK says of a call that it never sent
		408: contract.OutcomeUnknown, 504: contract.OutcomeUnknown, -32800: contract.OutcomeUnknown,
		-32601: contract.OutcomeFailed, -32603: contract.OutcomeFailed, 7: contract.OutcomeFailed,
	} {
		s.set(script{Tools: oneTool("ask", "Asks.", textSchema), Error: json.RawMessage(fmt.Sprintf(`{"code":%d,"message":"lost"}`, code))})
		if _, v := run(t, tool, `{"text":"a"}`); v.Outcome != want || v.Retry {
			t.Errorf("%d: got %+v", code, v)
		}
	}
}

// T62: ToResult has the last word on results, and none on errors.
func TestToResult(t *testing.T) {
	t.Parallel()
	sc := script{Tools: oneTool("ask", "Asks.", textSchema), Result: json.RawMessage(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`)}
	s := newScripted(t, sc)
	tool := s.connect(Options{ToResult: func(r *mcp.CallToolResult) (any, error) {
		return map[string]int{"blocks": len(r.Content)}, nil
	}}).Tools()[0]
	if result, v := run(t, tool, `{"text":"a"}`); string(result.JSON) != `{"blocks":2}` {
		t.Errorf("got %+v, %+v", result, v)
	}
	sc.Result = json.RawMessage(`{"isError":true,"content":[]}`)
	s.set(sc)
	if _, v := run(t, tool, `{"text":"a"}`); v.Outcome != contract.OutcomeFailed {
		t.Errorf("got %+v", v)
	}
}

// D08, T62: a structured result that breaks the server's own schema is told as
// that; the call has run.
func TestOutputSchema(t *testing.T) {
	t.Parallel()
	tools := json.RawMessage(`[{"name":"ask","description":"Asks.","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]`)
	s := newScripted(t, script{Tools: tools, Result: json.RawMessage(`{"content":[],"structuredContent":{"n":1}}`)})
	tool := s.connect(Options{}).Tools()[0]
	if result, v := run(t, tool, `{}`); string(result.JSON) != `{"n":1}` {
		t.Errorf("got %+v, %+v", result, v)
	}
	s.set(script{Tools: tools, Result: json.RawMessage(`{"content":[],"structuredContent":{"n":"one"}}`)})
	if _, v := run(t, tool, `{}`); v.Outcome != contract.OutcomeUnknown || !strings.Contains(v.Text, "does not fit its own schema") {
		t.Errorf("got %+v", v)
	}
}

// T64: nulls that the schema does not ask for stay away from the server; a call
// without arguments sends an empty object.
func TestArguments(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":["string","null"]},"deep":{"type":"object"}},"required":["b"]}`
	for _, tt := range []struct {
		name, schema, args, want string
		keep                     bool
	}{
		{"none", `{"type":"object"}`, ``, `{}`, false},
		{"null", `{"type":"object"}`, `null`, `{}`, false},
		{"nulls", schema, `{"a":null,"b":null,"deep":{"c":null}}`, `{"b":null,"deep":{"c":null}}`, false},
		{"kept", schema, `{"a":null,"b":null}`, `{"a":null,"b":null}`, true},
		{"every digit", `{"type":"object"}`, `{"n":9007199254740993}`, `{"n":9007199254740993}`, false},
	} {
		s := newScripted(t, script{Tools: oneTool("ask", "Asks.", tt.schema), Result: json.RawMessage(`{"content":[]}`)})
		tool := s.connect(Options{KeepNulls: tt.keep}).Tools()[0]
		if _, v := run(t, tool, tt.args); v.Outcome != contract.OutcomeDone {
			t.Errorf("%s: %+v", tt.name, v)
		}
		var params struct{ Arguments json.RawMessage }
		calls := s.lines("call ")
		if len(calls) != 1 || json.Unmarshal([]byte(strings.TrimPrefix(calls[0], "call ")), &params) != nil || string(params.Arguments) != tt.want {
			t.Errorf("%s: sent %v, want %s", tt.name, calls, tt.want)
		}
	}
}
