package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
)

func TestStatusErrors(t *testing.T) {
	t.Parallel()
	const page = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
	for _, c := range []struct {
		name      string
		status    int
		body      string
		kind      Kind
		message   string // part of it
		retryable bool
	}{
		{"A22 bare string", 429, `{"error":"rate limit reached"}`, KindRateLimited, "rate limit reached", true},
		{"A22 no message", 429, `{"error":{"code":429,"type":"x"}}`, KindRateLimited, `"type":"x"`, true},
		{"A22 list", 400, `[{"error":{"code":400,"message":"bad"}}]`, KindBadRequest, "bad", false},
		{"A22 top level, too long", 400, `{"object":"error","message":"too long","code":400}`, KindContextTooLong, "too long", false},
		{"A22 detail", 404, `{"detail":"Not Found"}`, KindNotAnEndpoint, "base_url", false},
		{"A22 page", 502, page, KindUnavailable, "502 Bad Gateway nginx", true},
		{"detail list", 422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, KindBadRequest, "field required", false},
		{"message list", 400, `{"error":{"message":["a","b"]}}`, KindBadRequest, "a", false},
		{"no body", 500, ``, KindUnavailable, "Internal Server Error", true},
		{"plain", 503, `try later`, KindOverloaded, "try later", true},
		{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, KindOverloaded, "Overloaded", true},
		{"quota", 429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, KindQuota, "quota", false},
		{"payment", 402, `{"error":{"message":"Insufficient credits"}}`, KindQuota, "credits", false},
		{"Google's quota is a rate", 429, `[{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"17s"}]}}]`, KindRateLimited, "quota", true},
		{"auth", 401, `{"error":{"message":"Incorrect API key provided: sk-abcd1234****wxyz"}}`, KindAuth, "[key]", false},
		{"forbidden page", 403, `<html>Access denied</html>`, KindAuth, "Access denied", false},
		{"auth as 400", 400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, KindAuth, "API key", false},
		{"model unknown", 404, `{"error":{"message":"The model gpt-9 does not exist","code":"model_not_found"}}`, KindBadRequest, "gpt-9", false},
		{"wrong path", 404, page, KindNotAnEndpoint, "/v1", false},
		{"context OpenAI", 400, `{"error":{"message":"x","code":"context_length_exceeded"}}`, KindContextTooLong, "x", false},
		{"context llama.cpp", 500, `{"error":{"code":500,"message":"the request exceeds the available context size"}}`, KindContextTooLong, "context", false},
		{"context Anthropic", 400, `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, KindContextTooLong, "210000", false},
		{"string too long", 400, `{"error":{"message":"Invalid 'tools[0].function.name': string too long.","code":"string_above_max_length"}}`, KindBadRequest, "string", false},
		{"entity too large", 413, page, KindContextTooLong, "nginx", false},
		{"Groq too large", 413, `{"error":{"message":"Request too large on tokens per minute (TPM)","code":"rate_limit_exceeded"}}`, KindRateLimited, "TPM", true},
		{"filter", 400, `{"error":{"message":"triggering Azure OpenAI's content management policy","code":"content_filter"}}`, KindRefused, "policy", false},
		{"A24", 400, `{"error":{"code":"tool_use_failed","message":"Failed to call a function.","failed_generation":"<function=web>"}}`, KindBadGeneration, "Failed", true},
		{"timeout", 408, ``, KindUnavailable, "", true},
		{"redirect", 302, ``, KindNotAnEndpoint, "base_url", false},
		{"OpenRouter", 400, `{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"detail\":\"bad tool\"}"}}}`, KindBadRequest, "bad tool", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, answering(c.status, "application/json", func() io.Reader { return strings.NewReader(c.body) }))
			e := got.Error
			if e == nil {
				t.Fatal("no error")
			}
			if e.Kind != c.kind || e.Status != c.status || e.Retryable() != c.retryable || !strings.Contains(e.Message, c.message) {
				t.Errorf("got %v, retryable %v", e, e.Retryable())
			}
			if strings.TrimSpace(e.Message) == "" {
				t.Error("the message is empty")
			}
		})
	}
}

func TestRetryHeaders(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, header, value string
		want                time.Duration
	}{
		{"none", "X", "", 0},
		{"seconds", "Retry-After", "7", 7 * time.Second},
		{"fraction", "Retry-After", "0.5", 500 * time.Millisecond},
		{"milliseconds", "Retry-After-Ms", "250", 250 * time.Millisecond},
		{"date", "Retry-After", "Fri, 02 Jan 2026 03:04:15 GMT", 10 * time.Second},
		{"past", "Retry-After", "Fri, 02 Jan 2026 03:04:00 GMT", 0},
		{"negative", "Retry-After", "-5", 0},
		{"huge", "Retry-After", "1e300", maxRetryAfter},
		{"not a number", "Retry-After", "NaN", 0},
		{"words", "Retry-After", "soon", 0},
	} {
		h := http.Header{}
		h.Set(c.header, c.value)
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestEndpointsWordOnRetry(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"true", "false"} {
		resp := &http.Response{StatusCode: http.StatusConflict, Status: "409 Conflict", Header: http.Header{
			"X-Should-Retry": {word}, "X-Request-Id": {"req_7"}, "Retry-After-Ms": {"20"},
		}}
		got := statusError(resp, nil, "http://x/v1")
		want := &Error{Kind: KindUnavailable, Status: 409, Message: "409 Conflict", RequestID: "req_7", RetryAfter: 20 * time.Millisecond}
		if diff := cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "should" }, cmp.Ignore())); diff != "" {
			t.Error(diff)
		}
		if got.Retryable() != (word == "true") {
			t.Errorf("x-should-retry: %s, but Retryable() = %v", word, got.Retryable())
		}
	}
}

// TestKeyNeverShows plants the key wherever an endpoint could echo it.
func TestKeyNeverShows(t *testing.T) {
	t.Parallel()
	const key = "planted/secret+key=="
	long := strings.Repeat("x ", maxExcerpt/2-5) + key // an excerpt cuts it in the middle
	for _, c := range []struct {
		name, contentType, body string
		status                  int
	}{
		{"error", "application/json", `{"error":{"message":"bad key ` + key + `"}}`, 401},
		{"escaped", "application/json", `{"error":{"message":"GET /?key=planted%2Fsecret%2Bkey%3D%3D"}}`, 400},
		{"page", "text/html", "<html>" + key + "</html>", 200},
		{"cut", "text/html", "<html>" + long + "</html>", 200},
		{"frame", "text/event-stream", "data: {\"error\":\"" + key + "\"}\n\n", 200},
		{"generation", "application/json", `{"error":{"code":"tool_use_failed","failed_generation":"` + key + `"}}`, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := New(Endpoint{BaseURL: "http://user:" + key + "@endpoint.test/v1?k=" + key, APIKey: key, HTTPClient: &http.Client{
				Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
					return &http.Response{
						StatusCode: c.status, Header: http.Header{"Content-Type": {c.contentType}, "X-Request-Id": {key}},
						Body: io.NopCloser(strings.NewReader(c.body)), Request: req,
					}, nil
				}),
			}})
			got := ask(t, client)
			text := got.json(t) + got.Error.Error()
			for n := len(key); n >= minKey; n-- {
				if strings.Contains(text, key[:n]) {
					t.Fatalf("%d characters of the key show in %s", n, text)
				}
			}
		})
	}
}

func TestUnreadableURLDoesNotShowTheKey(t *testing.T) {
	t.Parallel()
	const key = "planted-secret"
	c := New(Endpoint{BaseURL: "http://h\x7f/" + key, APIKey: key})
	_, err := c.Complete(context.Background(), Request{Model: "m", Messages: []contract.Message{{Role: contract.RoleUser}}}, nil)
	var e *Error
	if !errors.As(err, &e) || e.Retryable() || strings.Contains(err.Error(), "planted") {
		t.Errorf("got %v", err)
	}
}
