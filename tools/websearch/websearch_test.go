package websearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

const testKey = "tvly-dev-0123456789abcdef"

// good is an answer as Tavily writes one, with fields that are not used.
const good = `{"query":"tea","follow_up_questions":null,"answer":"Tea is a drink.","images":[],
"results":[{"url":"https://a.example/tea","title":"Tea","content":"All about tea.","score":0.98,"raw_content":null},
{"url":"http://b.example/","title":"More\ttea\u001b[31m","content":"tvly-dev-0123456789abcdef was here","score":0.5,"raw_content":null},
{"url":"javascript:alert(1)","title":"Not a page","content":"x","score":0.1,"raw_content":null}],
"response_time":1.2,"request_id":"r-1"}`

// newTool makes the tool as a worker does.
func newTool(t *testing.T) *tooldefs.Tool {
	t.Helper()
	tools, err := Builtin().New(tooldefs.BuiltinDeps{OnClose: func(f func() error) {
		t.Cleanup(func() {
			if err := f(); err != nil {
				t.Error(err)
			}
		})
	}})
	if err != nil || len(tools) != 1 {
		t.Fatalf("got %d tools, %v", len(tools), err)
	}
	return tools[0]
}

// ask searches at a server that answers with this.
func ask(t *testing.T, args string, serve http.HandlerFunc) (contract.ToolResult, *tooldefs.Tool, error) {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	tool := newTool(t)
	call := agenttest.NewCall(t, agenttest.CallOptions{Env: map[string]string{KeyVariable: testKey, URLVariable: server.URL + "/v1/"}})
	result, err := call.Run(tool, args)
	for _, line := range call.Log() {
		if strings.Contains(fmt.Sprint(line), testKey) {
			t.Errorf("the key is in the log: %v", line)
		}
	}
	return result, tool, err
}

// Y20: Tavily's request and its answer.
func TestY20_Search(t *testing.T) {
	t.Parallel()
	var got struct {
		method, path, auth, contentType string
		body                            map[string]any
	}
	result, _, err := ask(t, `{"query":"tea"}`, func(w http.ResponseWriter, r *http.Request) {
		got.method, got.path, got.auth, got.contentType = r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Content-Type")
		_ = json.NewDecoder(r.Body).Decode(&got.body)
		_, _ = io.WriteString(w, good)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.method != "POST" || got.path != "/v1/search" || got.auth != "Bearer "+testKey || got.contentType != "application/json" {
		t.Errorf("asked %+v", got)
	}
	if diff := cmp.Diff(map[string]any{"query": "tea", "max_results": 5.0, "include_answer": true}, got.body); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	var found Found
	if err := json.Unmarshal([]byte(result.JSON), &found); err != nil {
		t.Fatal(err)
	}
	want := Found{Answer: "Tea is a drink.", Results: []Page{
		{Title: "Tea", URL: "https://a.example/tea", Snippet: "All about tea."},
		{Title: "More tea[31m", URL: "http://b.example/", Snippet: "[TAVILY_API_KEY] was here"},
	}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// Y20: each failure is what it is: asked again where that may help, in words
// where not, and never with the key in it.
func TestY20_Failures(t *testing.T) {
	t.Parallel()
	status := func(status int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for _, tt := range []struct {
		name  string
		serve http.HandlerFunc
		retry bool
		after time.Duration
		want  string
	}{
		{"wrong key", status(401, `{"detail":{"error":"Unauthorized: `+testKey+` is missing or invalid."}}`), false, 0,
			"the search service refuses the key in TAVILY_API_KEY (status 401): Unauthorized: [TAVILY_API_KEY] is missing or invalid."},
		{"too often", status(429, `{"detail":{"error":"Your request has been blocked due to excessive requests."}}`, "Retry-After", "7"), true, 7 * time.Second, "asked too often (status 429): Your request has been blocked"},
		{"too often for long", status(429, `{}`, "Retry-After", "86400"), false, 0, "it asks to come back in 24h0m0s"},
		{"too often for ever", status(429, `{}`, "Retry-After", "1e300"), false, 0, "it asks to come back in 8760h0m0s"},
		{"a wait that is none", status(429, `{}`, "Retry-After", "soon"), true, 0, "status 429"},
		{"plan used up", status(432, `{"detail":{"error":"This request exceeds your plan's set usage limit."}}`), false, 0, "the search account's limit is used up; its owner can raise it (status 432): This request exceeds"},
		{"not valid", status(422, `{"detail":[{"loc":["body","query"],"msg":"field required","type":"x"}]}`), false, 0, "refuses the request (status 422): field required"},
		{"a fault", status(500, `<html><b>oops</b> `+strings.Repeat("x", 50_000)), true, 0, "has a fault (status 500): <html><b>oops</b> xxx"},
		{"a gateway's fault", status(503, `{"error":{"message":"draining"}}`, "Retry-After", "2"), true, 2 * time.Second, "(status 503): draining"},
		{"elsewhere", status(302, ``, "Location", "http://127.0.0.1:1/"), false, 0, "points elsewhere, which is not followed; set TAVILY_BASE_URL (status 302)"},
		{"nothing there", status(404, "404 page not found"), false, 0, "there is no search service at TAVILY_BASE_URL, to which /search is added (status 404)"},
		{"no content", status(204, ""), false, 0, "gives no answer of Tavily's (status 204)"},
		{"an error with 200", status(200, `{"detail":{"error":"over capacity"}}`), false, 0, "answered with status 200 and an error: over capacity"},
		{"another error with 200", status(200, `{"error":"over capacity","results":null}`), false, 0, "answered with status 200 and an error: over capacity"},
		{"no results field", status(200, `{"answer":"42"}`), false, 0, "has no results in it"},
		{"a page", status(200, "<html>Welcome to the hotel's network"), false, 0, "is not Tavily's: <html>Welcome"},
		{"another shape", status(200, `{"results":[1]}`), false, 0, "is not Tavily's"},
		{"huge", status(200, `{"results":[],"answer":"`+strings.Repeat("x", maxAnswerBytes)+`"}`), false, 0, "larger than 1048576 bytes"},
		{"cut", status(200, `{"results":[`, "Content-Length", "500"), true, 0, "cannot be reached: unexpected EOF"},
		{"hangs up", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			conn.Close()
		}, true, 0, "cannot be reached: EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, tool, err := ask(t, `{"query":"tea","max_results":2}`, tt.serve)
			if err == nil {
				t.Fatal("no error")
			}
			verdict := tool.Judge(err)
			if verdict.Retry != tt.retry || verdict.After != tt.after || verdict.Outcome != contract.OutcomeFailed {
				t.Errorf("got retry %v after %s, %s: %v", verdict.Retry, verdict.After, verdict.Outcome, err)
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(verdict.Text, tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if len(err.Error()) > 600 || strings.Contains(err.Error()+verdict.Text, testKey) {
				t.Errorf("too long, or with the key: %v", err)
			}
		})
	}
}

// Y20: the call's own end is its end: nothing is asked again. The server sees
// the connection close.
func TestY20_Interrupted(t *testing.T) {
	t.Parallel()
	arrived, left := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-r.Context().Done()
		close(left)
	}))
	t.Cleanup(server.Close)
	tool := newTool(t)
	call := agenttest.NewCall(t, agenttest.CallOptions{Env: map[string]string{KeyVariable: testKey, URLVariable: server.URL}})
	ctx, interrupt := context.WithCancelCause(t.Context())
	go func() { <-arrived; interrupt(errors.New("the turn was interrupted")) }()
	_, err := search(ctx, newClient(), endpoint{base: call.Call.Env(URLVariable), key: testKey}, Query{Query: "tea", MaxResults: 5})
	<-left
	if verdict := tool.Judge(err); verdict.Retry || !strings.Contains(verdict.Text, "the turn was interrupted") {
		t.Errorf("got %+v", verdict)
	}
}

// Y20: an endpoint that is not there may come; one that is none may not.
func TestY20_Endpoint(t *testing.T) {
	t.Parallel()
	found := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, good) })
	open, secure := httptest.NewServer(found), httptest.NewUnstartedServer(found)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(open.Close)
	t.Cleanup(secure.Close)
	for _, tt := range []struct {
		name, base, key, want string
		retry                 bool
	}{
		{"refused", "http://127.0.0.1:1", testKey, "the search service cannot be reached: ", true},
		{"no port", "http://127.0.0.1:99999", testKey, "see TAVILY_BASE_URL: dial tcp: address 99999: invalid port", false},
		{"a certificate of nobody's", secure.URL, testKey, "see TAVILY_BASE_URL: tls: failed to verify certificate", false},
		{"no TLS there", "https" + strings.TrimPrefix(open.URL, "http"), testKey, "see TAVILY_BASE_URL: http: server gave HTTP response to HTTPS client", false},
		{"blanks around it", " " + open.URL + "\n", testKey, "", false},
		{"no address", "api.tavily.com", testKey, "TAVILY_BASE_URL is no address of a search service: want one like https://api.tavily.com", false},
		{"a user in it", "http://me:" + testKey + "@127.0.0.1:1", testKey, "without a user in it", false},
		{"no key", DefaultURL, " ", "TAVILY_API_KEY is not set", false},
		{"a key with a line in it", DefaultURL, "tvly-\nx", "TAVILY_API_KEY holds a character that no key has", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tool := newTool(t)
			_, err := agenttest.NewCall(t, agenttest.CallOptions{Env: map[string]string{KeyVariable: tt.key, URLVariable: tt.base}}).Run(tool, `{"query":"tea"}`)
			if tt.want == "" && err == nil {
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || tool.Judge(err).Retry != tt.retry || strings.Contains(err.Error(), testKey) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Y20: what the model reads is bounded, whatever the service sends.
func TestY20_Bounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 20_000)
	one := fmt.Sprintf(`{"url":"https://a.example/","title":%q,"content":%q}`, long, long)
	result, _, err := ask(t, `{"query":"tea","max_results":3}`, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"answer":%q,"results":[null,%s%s]}`, long, one, strings.Repeat(","+one, 8))
	})
	var found Found
	if err := errors.Join(err, json.Unmarshal([]byte(result.JSON), &found)); err != nil {
		t.Fatal(err)
	}
	if len(found.Results) != 3 || len([]rune(found.Answer)) != maxText || len([]rune(found.Results[0].Snippet)) != maxSnippet || !strings.HasSuffix(found.Results[0].Title, "…") {
		t.Errorf("got %d pages, %d bytes", len(found.Results), len(result.JSON))
	}
}

// Y20: arguments out of bounds are answered without a search.
func TestY20_Arguments(t *testing.T) {
	t.Parallel()
	for _, args := range []string{`{}`, `{"query":""}`, `{"query":"  "}`, `{"query":"\u00a0\u200b\u3000"}`, `{"query":"x","max_results":0}`, `{"query":"x","max_results":11}`, `{"query":"` + strings.Repeat("x", 401) + `"}`} {
		var asked atomic.Bool
		_, _, err := ask(t, args, func(http.ResponseWriter, *http.Request) { asked.Store(true) })
		if _, ok := errors.AsType[*tooldefs.ArgumentsError](err); !ok || asked.Load() {
			t.Errorf("%.60s: got %v, asked %v", args, err, asked.Load())
		}
	}
}

// Y20, T39: a search may be repeated and run beside others.
func TestY20_Settings(t *testing.T) {
	t.Parallel()
	tool := newTool(t)
	if tool.Name() != Name || tool.Class() != tooldefs.SafeToRetry || tool.Effects() != tooldefs.None {
		t.Errorf("%s is %s, %s", tool.Name(), tool.Class(), tool.Effects())
	}
	if !tool.ParallelSafe(`{"query":"tea"}`) {
		t.Error("searches do not run side by side")
	}
}
