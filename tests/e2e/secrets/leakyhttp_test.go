package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// readAll reads a request's body and leaves it there.
func readAll(r *http.Request) string {
	data, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(data))
	return string(data)
}

// tavily speaks Tavily's wire format and says the key that it is sent, in the
// way that the query names.
func tavily(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Query string }
		_ = json.Unmarshal([]byte(readAll(r)), &asked)
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		detail := fmt.Sprintf(`{"detail":{"error":"Unauthorized: %s is missing or invalid. %s"}}`, key, witness)
		w.Header().Set("X-Api-Key", key)
		switch asked.Query {
		case "401":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, detail)
		case "500": // three times, and then for good
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "<html>"+html.EscapeString(key)+url.QueryEscape(key)+key)
		case "elsewhere":
			w.Header().Set("Location", "/search?key="+key)
			w.WriteHeader(http.StatusFound)
		case "cut": // the excerpt ends inside of the key
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, strings.Repeat("x", 290)+key)
		case "cut64":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, strings.Repeat("x", 275)+base64.StdEncoding.EncodeToString([]byte(key+" and more")))
		case "none":
			_, _ = io.WriteString(w, `{"results":null,"error":"`+key+`"}`)
		case "page":
			_, _ = io.WriteString(w, "<html>"+key)
		default:
			page := map[string]string{"title": key, "url": "https://x.example/?key=" + key, "content": "Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+key))}
			_ = json.NewEncoder(w).Encode(map[string]any{"answer": "the key is " + key, "results": []any{page}})
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// s3Echo refuses every request and says the headers that it was sent, as S3
// does with a token that it does not take.
func s3Echo(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, "<Error><Code>InvalidToken</Code><Message>The provided token %s is malformed.</Message></Error>", r.Header.Get("X-Amz-Security-Token"))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// reply is one answer of the model. {key} in it is the key that the model's
// endpoint was sent.
type reply struct {
	text  string
	calls []call

	status int    // not 200: an error with this text
	also   string // in reasoning, ids, headers, the model's name and a private field
}

type call struct{ tool, args string }

// modelEndpoint plays the replies of the scenario that the first message begins
// with, and streams texts in small pieces.
func modelEndpoint(t *testing.T, scenarios map[string][]reply) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Messages []struct{ Role, Content string }
		}
		_ = json.Unmarshal([]byte(readAll(r)), &asked)
		var replies []reply
		step := 0
		for _, m := range asked.Messages {
			switch m.Role {
			case "user":
				if name, _, _ := strings.Cut(m.Content, " "); scenarios[name] != nil {
					replies, step = scenarios[name], 0
				}
			case "assistant":
				step++
			}
		}
		if step >= len(replies) {
			http.Error(w, fmt.Sprintf("no reply %d", step), http.StatusBadRequest)
			return
		}
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		replies[step].send(w, strings.NewReplacer("{key}", key, "{key64}", base64.StdEncoding.EncodeToString([]byte("u:"+key)), "{KEY}", strings.ToUpper(key)))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

func (r reply) send(w http.ResponseWriter, fill *strings.Replacer) {
	also := fill.Replace(r.also)
	w.Header().Set("X-Request-Id", also)
	if r.status != 0 {
		w.Header().Set("X-Should-Retry", "false")
		w.Header().Set("Location", "/?key="+also)
		http.Error(w, fill.Replace(r.text), r.status)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	frame := func(delta map[string]any, finish any) {
		data, _ := json.Marshal(map[string]any{
			"id": also, "object": "chat.completion.chunk", "model": "m" + also, "system_fingerprint": also,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
		w.(http.Flusher).Flush()
	}
	if also != "" {
		frame(map[string]any{"role": "assistant", "reasoning_content": "thinking of " + also, "extra_content": map[string]any{"sign": also, also: 1}}, nil)
	}
	for text := fill.Replace(r.text); text != ""; {
		n := min(5, len(text))
		frame(map[string]any{"content": text[:n]}, nil)
		text = text[n:]
	}
	for i, c := range r.calls {
		frame(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": fmt.Sprint("call_", i, also), "type": "function",
			"function": map[string]any{"name": c.tool, "arguments": fill.Replace(c.args)}, "extra_content": map[string]any{"sign": also},
		}}}, nil)
	}
	finish := "stop"
	if len(r.calls) > 0 {
		finish = "tool_calls"
	}
	frame(map[string]any{}, finish)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
