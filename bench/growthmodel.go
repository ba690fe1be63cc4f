package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// growthModel is a model that asks for one call a step, as many as the user's
// message says. Other than agenttest's it keeps no request: those of 300 steps
// come to 400 MB.
func growthModel() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		at := bytes.Index(body, []byte(strings.Split(growthFormat, "%d")[0]))
		var steps int
		if err == nil && at >= 0 {
			_, err = fmt.Sscanf(string(body[at:at+min(100, len(body)-at)]), growthFormat, &steps)
		}
		if err != nil || at < 0 {
			http.Error(w, "not a request of the growth benchmark", http.StatusBadRequest)
			return
		}
		delta, finish := map[string]any{"content": secondText}, "stop"
		if step := 1 + bytes.Count(body, []byte(`"role":"assistant"`)); step <= steps {
			finish = "tool_calls"
			delta = map[string]any{"content": firstText, "tool_calls": []map[string]any{{
				"index": 0, "id": fmt.Sprintf("call_%d", step), "type": "function",
				"function": map[string]any{"name": growthTool, "arguments": growthArgs(step)},
			}}}
		}
		frame, err := json.Marshal(map[string]any{"id": "a", "object": "chat.completion.chunk", "model": "m", "choices": []map[string]any{
			{"index": 0, "delta": delta, "finish_reason": finish},
		}})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", frame)
	}))
}
