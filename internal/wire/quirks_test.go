package wire

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/wire/providers"
)

// of is an endpoint of a provider, with its quirks.
func of(t *testing.T, name string, overrides map[contract.Quirk]string) Endpoint {
	t.Helper()
	p, known := providers.Lookup(name)
	s, err := p.Settings(overrides)
	if err != nil || !known {
		t.Fatal(known, err)
	}
	return Endpoint{BaseURL: "http://x/v1", Settings: s, Origin: name}
}

type sentMessage struct {
	Role             string
	Content          string
	ReasoningContent *string         `json:"reasoning_content"`
	ExtraContent     json.RawMessage `json:"extra_content"`
	ToolCallID       string          `json:"tool_call_id"`
	ToolCalls        []struct {
		ID           string
		ExtraContent json.RawMessage `json:"extra_content"`
		Function     struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

func sentMessages(t *testing.T, body string) []sentMessage {
	t.Helper()
	var out struct{ Messages []sentMessage }
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatal(err)
	}
	return out.Messages
}

// withTools is a transcript of an origin: a call, its result, another word.
func withTools(origin string) []contract.Message {
	return []contract.Message{
		{Role: contract.RoleUser, Content: "go"},
		{Role: contract.RoleAssistant, Reasoning: "hm", Extra: `{"extra_content":{"m":1}}`, Origin: origin, ToolCalls: []contract.ToolCall{
			{ID: "functions.f:0", Name: "f", Args: `{}`, Extra: `{"extra_content":{"google":{"thought_signature":"AbC="}}}`},
			{ID: strings.Repeat("long", 20), Name: "f", Args: `{}`},
		}},
		{Role: contract.RoleTool, ToolCallID: "functions.f:0", Content: "a"},
		{Role: contract.RoleTool, ToolCallID: strings.Repeat("long", 20), Content: "b"},
		{Role: contract.RoleUser, Content: "and now?"},
	}
}

// A19, A20: to the endpoint they came from, and to
// no other, whatever the settings.
func TestA19A20_PrivateFieldsGoHomeOnly(t *testing.T) {
	t.Parallel()
	echo := map[contract.Quirk]string{contract.QuirkEchoReasoning: "always", contract.QuirkPrivateFields: "echo"}
	for _, p := range providers.All() {
		for _, origin := range []string{p.Name, "elsewhere", ""} {
			body, _ := sent(t, of(t, p.Name, echo), Request{Model: "m", Messages: withTools(origin)})
			home := origin == p.Name
			if strings.Contains(body, "hm") != home || strings.Contains(body, "AbC=") != home || strings.Contains(body, `{"m":1}`) != home {
				t.Errorf("%s, from %q: %s", p.Name, origin, body)
			}
		}
	}
	// By default Gemini gets its signature back, and Google's word instead of
	// one that another model's call never had.
	if body, _ := sent(t, of(t, "gemini", nil), Request{Model: "m", Messages: withTools("gemini")}); !strings.Contains(body, `{"google":{"thought_signature":"AbC="}}`) {
		t.Error(body)
	}
	body, _ := sent(t, of(t, "gemini", nil), Request{Model: "m", Messages: withTools("openai")})
	if calls := sentMessages(t, body)[1].ToolCalls; !strings.Contains(string(calls[0].ExtraContent), "skip_thought_signature_validator") || calls[1].ExtraContent != nil {
		t.Error(body)
	}
	// DeepSeek gets a reasoning text even where there is none.
	body, _ = sent(t, of(t, "deepseek", nil), Request{Model: "m", Messages: withTools("openai")})
	if r := sentMessages(t, body)[1].ReasoningContent; r == nil || *r != "" {
		t.Error(body)
	}
}

// TestLegalTranscripts: what each provider is sent is what it takes.
func TestLegalTranscripts(t *testing.T) {
	t.Parallel()
	nine := regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	for _, p := range providers.All() {
		body, _ := sent(t, of(t, p.Name, nil), Request{Model: "m", Messages: withTools("elsewhere")})
		m := sentMessages(t, body)
		calls := m[1].ToolCalls
		if calls[0].ID == calls[1].ID || m[2].ToolCallID != calls[0].ID || m[3].ToolCallID != calls[1].ID {
			t.Errorf("%s: results do not answer their calls: %s", p.Name, body)
		}
		for _, c := range calls {
			switch p.Name {
			case "mistral":
				if !nine.MatchString(c.ID) {
					t.Errorf("mistral: id %s", c.ID)
				}
			case "openai", "azure":
				if len(c.ID) > 40 {
					t.Errorf("%s: id %s", p.Name, c.ID)
				}
			}
		}
		bridged := m[4].Role == "assistant" && m[4].Content != "" && m[5].Role == "user"
		if bridged != (p.Name == "mistral") {
			t.Errorf("%s: %s", p.Name, body)
		}
		again, _ := sent(t, of(t, p.Name, nil), Request{Model: "m", Messages: withTools("elsewhere")})
		if again != body {
			t.Errorf("%s: the same transcript was sent in two ways", p.Name)
		}
	}
	// A name that no tool may have would be refused in every later request.
	body, _ := sent(t, of(t, "openai", nil), Request{Model: "m", Messages: []contract.Message{
		{Role: contract.RoleAssistant, ToolCalls: []contract.ToolCall{{ID: "a", Name: "no such.tool"}, {ID: "b"}}},
	}})
	if c := sentMessages(t, body)[0].ToolCalls; c[0].Function.Name != "no_such_tool" || c[1].Function.Name != "unnamed" {
		t.Error(body)
	}
}

// A27: without tools nothing speaks of them.
func TestA27_OptionsOfToolsGoTogether(t *testing.T) {
	t.Parallel()
	user := []contract.Message{{Role: contract.RoleUser, Content: "go"}}
	for _, p := range providers.All() {
		e := of(t, p.Name, nil)
		e.ParallelToolCalls = "false"
		body, _ := sent(t, e, Request{Model: "m", Messages: user})
		for _, word := range []string{"tools", "tool_choice", "parallel"} {
			if strings.Contains(body, word) {
				t.Errorf("%s: %s", p.Name, body)
			}
		}
		body, _ = sent(t, e, Request{Model: "m", Messages: user, Tools: []Tool{{Name: "f"}}})
		if strings.Contains(body, `"parallel_tool_calls":false`) != (e.Settings.ParallelOption == "send") {
			t.Errorf("%s: %s", p.Name, body)
		}
		// The transcript still has calls: some declare their tools again.
		body, _ = sent(t, e, Request{Model: "m", Messages: withTools("")})
		if declared := strings.Contains(body, `"tool_choice":"none"`) && strings.Contains(body, `"tools":[`); declared != (e.Settings.HistoryTools == "declare") {
			t.Errorf("%s: %s", p.Name, body)
		}
	}
}

func TestOptionsOfTheRequest(t *testing.T) {
	t.Parallel()
	user := Request{Model: "m", MaxOutputTokens: 9, Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}}
	body, h := sent(t, of(t, "vllm", map[contract.Quirk]string{contract.QuirkStream: "off", contract.QuirkTokenLimit: "max_completion_tokens"}), user)
	if strings.Contains(body, "stream") || !strings.Contains(body, `"max_completion_tokens":9`) || strings.Contains(body, "max_tokens") || h.Get("Accept") != "application/json" {
		t.Errorf("%s %v", body, h)
	}
	if body, _ = sent(t, of(t, "mistral", nil), user); strings.Contains(body, "stream_options") || !strings.Contains(body, `"stream":true`) {
		t.Error(body)
	}
	e := of(t, "azure", nil)
	e.APIKey, e.APIVersion = "key", "2024-10-21"
	var url string
	e.HTTPClient = &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		url, h = req.URL.String(), req.Header
		return &http.Response{StatusCode: http.StatusInternalServerError, Body: io.NopCloser(strings.NewReader(""))}, nil
	})}
	_, _ = New(e).Complete(t.Context(), user, nil)
	if url != "http://x/v1/chat/completions?api-version=2024-10-21" || h.Get("Api-Key") != "key" || h.Get("Authorization") != "" {
		t.Errorf("%s %v", url, h)
	}
}

// F08: only what our own transcript may have caused is repaired,
// and only where something changes.
func TestF08_Repair(t *testing.T) {
	t.Parallel()
	c := New(of(t, "vllm", nil))
	history := Request{Model: "m", Messages: withTools("vllm")}
	refused := &Error{Kind: KindBadRequest, Status: 400, Message: "messages[1].extra_content: extra inputs are not permitted"}
	plain, changed := c.Repair(history, refused)
	if !changed {
		t.Fatal("not repaired")
	}
	if _, again := c.Repair(plain, refused); again {
		t.Error("repaired twice")
	}
	for name, e := range map[string]*Error{
		"another 400": {Kind: KindBadRequest, Status: 400, Message: "unknown option top_q"},
		"a 404":       {Kind: KindBadRequest, Status: 404, Message: "no such model in messages"},
		"auth":        {Kind: KindAuth, Status: 401, Message: "messages"},
	} {
		if _, changed := c.Repair(history, e); changed {
			t.Errorf("%s was repaired", name)
		}
	}
	if _, changed := c.Repair(Request{Messages: history.Messages[:1]}, refused); changed {
		t.Error("there was nothing to repair")
	}
	broken := Request{Messages: []contract.Message{
		{Role: contract.RoleTool, ToolCallID: "orphan", Content: "x"},
		{Role: contract.RoleAssistant, ToolCalls: []contract.ToolCall{{ID: "a", Name: "f", Args: `{"s":"\ud800"}`}, {ID: "a", Name: "f", Args: `{"n":1}`}}},
		{Role: contract.RoleTool, ToolCallID: "a", Content: "first"},
		{Role: contract.RoleAssistant},
	}}
	plain, _ = c.Repair(broken, refused)
	m := plain.Messages
	if len(m) != 4 || m[0].ToolCalls[0].Args != "{}" || m[0].ToolCalls[1].Args != "{}" || m[0].ToolCalls[0].ID == m[0].ToolCalls[1].ID ||
		m[1].ToolCallID != m[0].ToolCalls[0].ID || m[2].ToolCallID != m[0].ToolCalls[1].ID || m[3].Content == "" {
		t.Errorf("%+v", m)
	}
	// The word on reasoning_content has changed before: the other way is tried.
	for _, mode := range []string{"never", "even_empty"} {
		c := New(of(t, "deepseek", map[contract.Quirk]string{contract.QuirkEchoReasoning: mode}))
		plain, changed := c.Repair(history, &Error{Kind: KindBadRequest, Status: 400, Message: "reasoning_content is missing, or must not be there"})
		if !changed || (c.echo(plain) == "never") != (mode == "even_empty") {
			t.Errorf("%s became %s", mode, c.echo(plain))
		}
	}
}

// TestTotalTimeout: keep-alives do not make an endless call.
func TestTotalTimeout(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer func() { _ = r.Close() }()
	go func() {
		for {
			if _, err := io.WriteString(w, ": keep-alive\n\n"); err != nil {
				return
			}
		}
	}()
	c := New(Endpoint{BaseURL: "http://x/v1", TotalTimeout: 20 * time.Millisecond, HTTPClient: &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		go func() { <-req.Context().Done(); _ = w.CloseWithError(req.Context().Err()) }()
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: r, Request: req}, nil
	})}})
	got := ask(t, c)
	if got.Error == nil || !got.Retryable || !strings.Contains(got.Error.Message, "not complete after 20ms") {
		t.Errorf("%+v", got.Error)
	}
}

// TestContextTooLong: in every provider's words that we know of.
func TestContextTooLong(t *testing.T) {
	t.Parallel()
	for provider, c := range map[string]struct {
		status int
		body   string
	}{
		"openai":      {400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
		"vllm":        {400, `{"object":"error","message":"The prompt (total length 25938) is too long to fit into the model (context length 4096). Make sure that max_model_len is no smaller","type":"BadRequestError","code":400}`},
		"llamacpp":    {400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`},
		"ollama":      {500, `{"error":{"message":"input length exceeds maximum context length"}}`},
		"groq":        {400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
		"mistral":     {400, `{"object":"error","message":"Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","code":3051}`},
		"deepseek":    {400, `{"error":{"message":"This model's maximum context length is 65536 tokens. However, you requested 70000 tokens"}}`},
		"gemini":      {400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`},
		"openrouter":  {400, `{"error":{"message":"This endpoint's maximum context length is 32768 tokens.","code":400}}`},
		"litellm":     {400, `{"error":{"message":"litellm.ContextWindowExceededError: prompt is too long: 210000 tokens > 200000 maximum","type":null,"code":"400"}}`},
		"bedrock":     {400, `{"error":{"message":"Input is too long for requested model."}}`},
		"xai":         {400, `{"error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`},
		"moonshot":    {400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192"}}`},
		"siliconflow": {400, `{"message":"length of prompt_tokens (163280) must be less than max_seq_len (32768)."}`},
	} {
		got := ask(t, answering(c.status, "application/json", func() io.Reader { return strings.NewReader(c.body) }))
		if got.Error == nil || got.Error.Kind != KindContextTooLong || got.Retryable {
			t.Errorf("%s: %+v", provider, got.Error)
		}
	}
	got := ask(t, answering(504, "text/plain", func() io.Reader { return strings.NewReader("the upstream took too long to respond") }))
	if got.Error == nil || got.Error.Kind != KindUnavailable {
		t.Errorf("time is no context: %+v", got.Error)
	}
}

// TestPrivateListsAreJoined: a list that is streamed in pieces comes back whole.
func TestPrivateListsAreJoined(t *testing.T) {
	t.Parallel()
	a := &assembly{}
	for _, d := range []string{
		`{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"Let "}]}`,
		`{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"me","signature":"s1"}]}`,
		`{"reasoning_details":[{"type":"reasoning.encrypted","index":1,"data":"x"}],"extra_content":null}`,
		`{"content":"ok"}`,
	} {
		if _, err := a.add([]byte(`{"choices":[{"index":0,"delta":` + d + `}]}`)); err != nil {
			t.Fatal(err)
		}
	}
	const want = `{"reasoning_details":[{"index":0,"signature":"s1","text":"Let me","type":"reasoning.text"},{"type":"reasoning.encrypted","index":1,"data":"x"}]}`
	if got := a.answer(0).Extra; got != want {
		t.Error(got)
	}
}
