package agenttest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tryPost sends a chat request and returns status and body.
func tryPost(m *ModelServer, body string) (int, string, error) {
	resp, err := http.Post(m.URL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

func post(t *testing.T, m *ModelServer, body string) (int, string) {
	t.Helper()
	status, data, err := tryPost(m, body)
	if err != nil {
		t.Fatal(err)
	}
	return status, data
}

func start(t *testing.T, s Script) *ModelServer {
	t.Helper()
	m, err := NewModelServer(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func twoSteps() Script {
	return Script{Steps: []Step{{Calls: []ScriptCall{{Name: "f", Args: map[string]any{"x": 1}}}}, {Text: "done"}}}
}

const user = `{"role":"user","content":"go"}`

func chat(messages string) string { return `{"model":"m","messages":[` + messages + `]}` }

func TestModelServerWhole(t *testing.T) {
	t.Parallel()
	m := start(t, twoSteps())
	status, body := post(t, m, chat(user))
	if status != 200 || !strings.Contains(body, `"arguments":"{\"x\":1}"`) || !strings.Contains(body, `"finish_reason":"tool_calls"`) {
		t.Errorf("step 1: %d %s", status, body)
	}
	call := `{"role":"assistant","tool_calls":[{"id":"call_1_1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	answer := `{"role":"tool","tool_call_id":"call_1_1","content":""}`
	for range 2 { // the same request gets the same step
		if _, body = post(t, m, chat(user+","+call+","+answer)); !strings.Contains(body, `"content":"done"`) {
			t.Errorf("step 2: %s", body)
		}
	}
	if _, body = post(t, m, chat(user+`,{"role":"assistant","content":"done"},`+user)); !strings.Contains(body, "tool_calls") {
		t.Errorf("a new user message begins again: %s", body)
	}
	if got := len(m.Requests()); got != 4 {
		t.Errorf("recorded %d requests, want 4", got)
	}
	m.Check(t)
}

func TestModelServerStream(t *testing.T) {
	t.Parallel()
	m := start(t, Script{Steps: []Step{{Text: "Grüße, höflich und länger", Calls: []ScriptCall{{Name: "f", Args: map[string]any{"city": "Zürich"}}}}}})
	_, body := post(t, m, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[`+user+`]}`)
	var text, args strings.Builder
	frames := strings.Split(strings.TrimSpace(body), "\n\n")
	if frames[len(frames)-1] != "data: [DONE]" {
		t.Fatalf("ends with %q", frames[len(frames)-1])
	}
	for _, f := range frames[:len(frames)-1] {
		var c struct {
			Choices []struct {
				Delta struct {
					Content   string
					ToolCalls []ModelCall `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(f, "data: ")), &c); err != nil {
			t.Fatal(err)
		}
		for _, ch := range c.Choices {
			text.WriteString(ch.Delta.Content)
			for _, call := range ch.Delta.ToolCalls {
				args.WriteString(*call.Function.Arguments)
			}
		}
	}
	if text.String() != "Grüße, höflich und länger" || args.String() != `{"city":"Zürich"}` {
		t.Errorf("text %q, args %q", text.String(), args.String())
	}
	if !strings.Contains(frames[len(frames)-2], `"prompt_tokens"`) {
		t.Errorf("no usage: %s", frames[len(frames)-2])
	}
	m.Check(t)
}

func TestModelServerRefuses(t *testing.T) {
	t.Parallel()
	call := func(id, args string) string {
		return `{"id":"` + id + `","type":"function","function":{"name":"f","arguments":` + args + `}}`
	}
	asks := func(calls string) string { return `{"role":"assistant","tool_calls":[` + calls + `]}` }
	answer := func(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"x"}` }
	two := asks(call("a", `"{}"`) + "," + call("b", `"{}"`))
	for _, c := range []struct{ name, in, want string }{
		{"no JSON", `{`, "not a chat request"},
		{"trailing", chat(user) + "x", "more after the JSON"},
		{"no model", `{"messages":[` + user + `]}`, "model is missing"},
		{"no messages", chat(""), "messages is empty"},
		{"role", chat(`{"role":"robot","content":""}`), `unknown role "robot"`},
		{"no content", chat(`{"role":"user"}`), "content of a message"},
		{"unanswered", chat(user + "," + asks(call("a", `"{}"`))), "calls a are not answered"},
		{"answered late", chat(user + "," + asks(call("a", `"{}"`)) + "," + user + "," + answer("a")), "answer to the call a is due"},
		{"out of order", chat(user + "," + two + "," + answer("b") + "," + answer("a")), "where a is due"},
		{"twice", chat(user + "," + asks(call("a", `"{}"`)) + "," + answer("a") + "," + answer("a")), "no open call"},
		{"orphan", chat(user + "," + answer("a")), "no open call"},
		{"same ids", chat(user + "," + asks(call("a", `"{}"`)+","+call("a", `"{}"`))), "stands twice"},
		{"same ids in a turn", chat(user + "," + asks(call("a", `"{}"`)) + "," + answer("a") + "," + asks(call("a", `"{}"`)) + "," + answer("a")), "stands twice"},
		{"arguments text", chat(user + "," + asks(call("a", `"{\"x\":"`)) + "," + answer("a")), "not a JSON object"},
		{"arguments null", chat(user + "," + asks(call("a", `"null"`)) + "," + answer("a")), "not a JSON object"},
		{"arguments missing", chat(user + "," + asks(`{"id":"a","type":"function","function":{"name":"f"}}`) + "," + answer("a")), "arguments are missing"},
		{"tool content", chat(user + "," + asks(call("a", `"{}"`)) + `,{"role":"tool","tool_call_id":"a"}`), "content of a message"},
		{"assistant last", chat(user + `,{"role":"assistant","content":"x"}`), "nothing to answer"},
		{"empty tools", `{"model":"m","tools":[],"messages":[` + user + `]}`, "empty list"},
		{"choice without tools", `{"model":"m","tool_choice":"auto","messages":[` + user + `]}`, "without tools"},
		{"schema", `{"model":"m","tools":[{"type":"function","function":{"name":"f","parameters":[]}}],"messages":[` + user + `]}`, "not a JSON object"},
		{"schema type", `{"model":"m","tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"messages":[` + user + `]}`, `"type":"object"`},
		{"beyond the script", chat(user + `,{"role":"assistant","content":"x"},{"role":"system","content":"x"},{"role":"assistant","content":"x"},{"role":"system","content":"x"}`), "request is for step 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := start(t, twoSteps())
			status, body := post(t, m, c.in)
			if status != 400 {
				t.Errorf("status %d: %s", status, body)
			}
			if err := m.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Err() = %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestModelServerOtherPath(t *testing.T) {
	t.Parallel()
	m := start(t, twoSteps())
	resp, err := http.Get(strings.TrimSuffix(m.URL(), "/v1") + "/chat/completions")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound || m.Err() == nil {
		t.Errorf("status %d, Err() = %v", resp.StatusCode, m.Err())
	}
}

func TestModelServerModels(t *testing.T) {
	t.Parallel()
	m := start(t, twoSteps())
	resp, err := http.Get(m.URL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var got struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || len(got.Data) != 1 || got.Data[0].ID != "scripted" {
		t.Errorf("%v %v", got, err)
	}
}

func TestModelServerFailures(t *testing.T) {
	t.Parallel()
	s := twoSteps()
	s.Steps[0].Failures = []StepFailure{{Status: 429, Headers: map[string]string{"Retry-After": "2"}}, {Cut: 1}}
	m := start(t, s)
	body := `{"model":"m","stream":true,"messages":[` + user + `]}`
	if status, _ := post(t, m, body); status != 429 {
		t.Errorf("first: %d", status)
	}
	if _, _, err := tryPost(m, body); err == nil {
		t.Error("second: the connection did not break")
	}
	if status, text := post(t, m, body); status != 200 || !strings.Contains(text, "[DONE]") {
		t.Errorf("third: %d %s", status, text)
	}
	m.Check(t)
}

func TestModelServerTurnsAndHook(t *testing.T) {
	t.Parallel()
	s := twoSteps()
	s.Turns = []ScriptTurn{{When: "refund", Steps: []Step{{Text: "no"}}}}
	s.Hook = func(_ context.Context, r ModelRequest) *Step {
		if r.User == "hook" {
			return &Step{Text: "hooked"}
		}
		return nil
	}
	m := start(t, s)
	got := map[string]string{}
	for _, words := range []string{"a refund please", "hook"} {
		_, body := post(t, m, chat(`{"role":"user","content":"`+words+`"}`))
		var out struct {
			Choices []struct{ Message struct{ Content string } }
		}
		if err := json.NewDecoder(bytes.NewBufferString(body)).Decode(&out); err != nil {
			t.Fatal(err)
		}
		got[words] = out.Choices[0].Message.Content
	}
	if diff := cmp.Diff(map[string]string{"a refund please": "no", "hook": "hooked"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestModelServerCloseWhileItWaits(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	s := Script{Hook: func(ctx context.Context, _ ModelRequest) *Step {
		close(asked)
		<-ctx.Done()
		return &Step{Text: "late"}
	}}
	m := start(t, s)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _, _ = tryPost(m, chat(user))
	}()
	<-asked
	m.Close()
	m.Close()
	<-answered
}

func TestNewModelServerChecksTheScript(t *testing.T) {
	t.Parallel()
	if _, err := NewModelServer(Script{}); err == nil {
		t.Error("an empty script was accepted")
	}
}
