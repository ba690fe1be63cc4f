package effectlog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/foldcache"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// BenchmarkColdRead is what a step costs on a worker that has never seen the
// turn: the history is read from the server, folded and made the prompt. The
// aim is 300 ms for 10 MB.
func BenchmarkColdRead(b *testing.B) {
	for _, c := range []struct {
		name   string
		steps  int
		result any
	}{
		{"10 texts of 1 MiB", 10, lines(1 << 20)},
		{"10 JSON values of 1 MiB", 10, rows(1 << 20)},
		{"300 texts of 32 KiB", 300, lines(32 << 10)},
		{"300 texts of 16 KiB", 300, lines(16 << 10)},
		{"300 JSON values of 16 KiB", 300, rows(16 << 10)},
	} {
		b.Run(c.name, func(b *testing.B) {
			tool := tooldefs.Define(tooldefs.Spec[number, any]{
				Name: "look", Description: "Looks.", Effects: tooldefs.None,
				Handler: func(context.Context, *tooldefs.Call, number) (any, error) { return c.result, nil },
			})
			s := newStack(b, options{
				tools: []*tooldefs.Tool{tool}, endpoint: oneCallAStep(b, c.steps), limits: contract.Limits{MaxSteps: c.steps + 1},
			})
			out := s.run("go")
			if out.err != nil || out.result.Effects.Done != c.steps {
				b.Fatalf("%+v, %v", out.result, out.err)
			}
			size := 0
			for _, e := range out.events {
				size += proto.Size(e)
			}
			b.ReportAllocs()
			for b.Loop() {
				messages, err := promptAt(b, s, foldcache.New(foldcache.Options{}), out, c.steps+1)
				if err != nil || len(messages) != 2*c.steps+1 {
					b.Fatalf("%d messages, %v", len(messages), err)
				}
			}
			b.ReportMetric(float64(size)/1e6, "MB/history")
			b.ReportMetric(float64(len(out.events)), "events/history")
		})
	}
}

func lines(bytes int) string { return strings.Repeat("a line of what was found <here>\n", bytes/34) }

func rows(bytes int) []map[string]any {
	list := make([]map[string]any, bytes/60)
	for i := range list {
		list[i] = map[string]any{"id": i, "name": "what was found", "where": "<here>", "ok": true}
	}
	return list
}

// oneCallAStep is a model that asks for one call a step and keeps no request:
// those of 300 steps come to a gigabyte.
func oneCallAStep(t testing.TB, steps int) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		delta := `{"content":"done"}`
		if step := 1 + bytes.Count(body, []byte(`"role":"assistant"`)); step <= steps {
			delta = fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"look","arguments":"{\"n\":%d}"}}]}`, step)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {\"id\":\"a\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", delta)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}
