package wire

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/wire/providers"
)

// sent is the JSON that a request becomes on the wire.
func sent(t *testing.T, e Endpoint, r Request) (string, http.Header) {
	t.Helper()
	var body string
	var header http.Header
	e.HTTPClient = &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		data, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		if req.ContentLength != int64(len(data)) {
			t.Errorf("Content-Length %d, body %d", req.ContentLength, len(data))
		}
		body, header = string(data), req.Header
		answer := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\n"
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(answer))}, nil
	})}
	if _, err := New(e).Complete(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	return body, header
}

func TestRequestOnTheWire(t *testing.T) {
	t.Parallel()
	zero, some := 0.0, 0.7
	user := []contract.Message{{Role: contract.RoleUser, Content: "go"}}
	const wireUser = `{"role":"user","content":"go"}`
	const local = "http://localhost:11434/v1"
	history := []contract.Message{
		{Role: contract.RoleSystem},
		{Role: contract.RoleUser, Content: "a<b & c"},
		{Role: contract.RoleAssistant, Reasoning: "hm", Extra: `{"extra_content":{"n":9007199254740993},"role":"evil"}`, ToolCalls: []contract.ToolCall{
			{ID: "a", Name: "f"},
			{ID: "b", Name: "f", Args: `{"x":`},
			{ID: "c", Name: "f", Args: `null`, Extra: `{"extra_content":{"google":{"thought_signature":"A<b=&"}}}`},
			{ID: "d", Name: "f", Args: `{"n":9007199254740993}`, Extra: `not json`},
		}},
		{Role: contract.RoleTool, ToolCallID: "a"},
		{Role: contract.RoleAssistant, Content: "done"},
	}
	call := func(id, args, extra string) string {
		return `{"id":"` + id + `","type":"function","function":{"name":"f","arguments":` + args + `}` + extra + `}`
	}
	wireHistory := func(reasoning string) string {
		return `{"role":"system","content":""},{"role":"user","content":"a<b & c"},` +
			`{"role":"assistant"` + reasoning + `,"extra_content":{"n":9007199254740993},"tool_calls":[` +
			call("a", `"{}"`, "") + "," + call("b", `"{}"`, "") + "," +
			call("c", `"{}"`, `,"extra_content":{"google":{"thought_signature":"A<b=&"}}`) + "," +
			call("d", `"{\"n\":9007199254740993}"`, "") + `]},` +
			`{"role":"tool","tool_call_id":"a","content":""},{"role":"assistant","content":"done"}`
	}
	const tail = `,"stream":true,"stream_options":{"include_usage":true}`
	for _, c := range []struct {
		name     string
		endpoint Endpoint
		in       Request
		want     string
	}{
		{"plain", Endpoint{BaseURL: local}, Request{Model: "m", Messages: user}, `{"model":"m","messages":[` + wireUser + `]` + tail + `}`},
		{"history", Endpoint{BaseURL: local}, Request{Model: "m", Messages: history}, `{"model":"m","messages":[` + wireHistory("") + `]` + tail + `}`},
		{"echo reasoning", Endpoint{BaseURL: local, Settings: providers.Settings{EchoReasoning: "always"}}, Request{Model: "m", Messages: history}, `{"model":"m","messages":[` + wireHistory(`,"reasoning_content":"hm"`) + `]` + tail + `}`},
		{"tools", Endpoint{BaseURL: local}, Request{Model: "m", Messages: user, Tools: []Tool{{Name: "f", Description: "does"}, {Name: "g", Schema: `{"type":"object","maximum":9007199254740993}`}}},
			`{"model":"m","messages":[` + wireUser + `],"tools":[{"type":"function","function":{"name":"f","description":"does","parameters":{"type":"object","properties":{}}}},` +
				`{"type":"function","function":{"name":"g","parameters":{"type":"object","maximum":9007199254740993}}}]` + tail + `}`},
		{"zero temperature", Endpoint{BaseURL: local}, Request{Model: "m", Messages: user, Temperature: &zero, MaxOutputTokens: 9, ReasoningEffort: "low"},
			`{"model":"m","messages":[` + wireUser + `],"temperature":0,"max_tokens":9,"reasoning_effort":"low"` + tail + `}`},
		{"exact temperature", Endpoint{BaseURL: local}, Request{Model: "m", Messages: user, Temperature: &some},
			`{"model":"m","messages":[` + wireUser + `],"temperature":0.7` + tail + `}`},
		{"OpenAI's limit", Endpoint{}, Request{Model: "m", Messages: user, MaxOutputTokens: 9},
			`{"model":"m","messages":[` + wireUser + `],"max_completion_tokens":9` + tail + `}`},
		{"reasoning model's limit", Endpoint{BaseURL: local}, Request{Model: "openai/o3-mini", Messages: user, MaxOutputTokens: 9},
			`{"model":"openai/o3-mini","messages":[` + wireUser + `],"max_completion_tokens":9` + tail + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, _ := sent(t, c.endpoint, c.in)
			if diff := cmp.Diff(ordered(t, c.want), ordered(t, got)); diff != "" {
				t.Errorf("%s\n%s", diff, got)
			}
		})
	}
}

// ordered is JSON with sorted keys and the numbers as they are written.
func ordered(t *testing.T, text string) string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	out, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestEmptyReasoningIsEchoed(t *testing.T) {
	t.Parallel()
	got, _ := sent(t, Endpoint{BaseURL: "http://x/v1", Settings: providers.Settings{EchoReasoning: "even_empty"}}, Request{Model: "m", Messages: []contract.Message{
		{Role: contract.RoleAssistant, ToolCalls: []contract.ToolCall{{ID: "a", Name: "f"}}},
	}})
	if !strings.Contains(got, `"reasoning_content":""`) {
		t.Error(got)
	}
}

func TestPrivateFieldsKeepTheirBytes(t *testing.T) {
	t.Parallel()
	const private = `{"google":{"thought_signature":"A<b&=","f":1.10,"n":9007199254740993}}`
	got, _ := sent(t, Endpoint{BaseURL: "http://x/v1"}, Request{Model: "m", Messages: []contract.Message{
		{Role: contract.RoleAssistant, ToolCalls: []contract.ToolCall{{ID: "a", Name: "f", Extra: `{"extra_content":` + private + `}`}}},
	}})
	if !strings.Contains(got, private) {
		t.Error(got)
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	r := Request{Model: "m", Messages: []contract.Message{{Role: contract.RoleUser}}}
	_, h := sent(t, Endpoint{BaseURL: "http://x/v1", APIKey: " key\n", Organization: "org"}, r)
	if h.Get("Authorization") != "Bearer key" || h.Get("OpenAI-Organization") != "org" || h.Get("Accept") != "text/event-stream" {
		t.Errorf("%v", h)
	}
	if _, h = sent(t, Endpoint{BaseURL: "http://x/v1"}, r); h.Get("Authorization") != "" {
		t.Errorf("a header without a key: %v", h)
	}
}

func TestBadSchemaIsRefusedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{`{`, `[]`, `true`, `{} {}`} {
		_, err := New(Endpoint{BaseURL: "http://never.test"}).Complete(t.Context(), Request{Model: "m", Tools: []Tool{{Name: "f", Schema: schema}}}, nil)
		e, ok := err.(*Error)
		if !ok || e.Kind != KindBadRequest || !strings.Contains(e.Message, "tool f") {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func FuzzPatch(f *testing.F) {
	f.Add("content", `{"x":1}`, `{"extra_content":{}}`)
	f.Fuzz(func(t *testing.T, content, args, extra string) {
		c := New(Endpoint{BaseURL: "http://x/v1"})
		request, patch, err := c.encode(Request{Model: "m", Messages: []contract.Message{
			{Role: contract.RoleAssistant, Content: content, Extra: extra, ToolCalls: []contract.ToolCall{{ID: "a", Name: "f", Args: args, Extra: extra}}},
			{Role: contract.RoleTool, ToolCallID: "a", Content: content},
		}})
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		out, err := patch.apply(body)
		if err != nil {
			t.Fatal(err)
		}
		var back struct {
			Messages []struct {
				Content   *string
				ToolCalls []struct{ Function struct{ Arguments string } } `json:"tool_calls"`
			}
		}
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatal(err)
		}
		if back.Messages[1].Content == nil || !isObject(back.Messages[0].ToolCalls[0].Function.Arguments) {
			t.Errorf("%s", out)
		}
	})
}
