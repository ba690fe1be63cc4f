package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
)

// chunking streams one answer in a way of its own: pieces of any size, with or
// without indexes, repeated or late ids, comments between.
type chunking struct {
	rand *rand.Rand
	out  bytes.Buffer
}

func (c *chunking) frame(delta map[string]any, finish any) {
	data, _ := json.Marshal(map[string]any{"id": "c", "model": "m", "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	if c.rand.IntN(4) == 0 {
		c.out.WriteString(": keep-alive\n\n")
	}
	fmt.Fprintf(&c.out, "data: %s\n\n", data)
}

// pieces cuts a text anywhere between runes.
func (c *chunking) pieces(s string) []string {
	var all []string
	runes := []rune(s)
	for len(runes) > 0 {
		n := min(1+c.rand.IntN(8), len(runes))
		all, runes = append(all, string(runes[:n])), runes[n:]
	}
	return all
}

func (c *chunking) call(i int, call contract.ToolCall, style int) {
	fragment := func(fn map[string]any, first bool) {
		f := map[string]any{"type": "function", "function": fn}
		switch style {
		case 0: // as OpenAI
			f["index"] = i
		case 1: // every index 0, ids tell
			f["index"] = 0
		case 2: // no index, id on every fragment
			f["id"] = call.ID
		}
		if first {
			f["id"] = call.ID
			fn["name"] = call.Name
		}
		c.frame(map[string]any{"tool_calls": []any{f}}, nil)
	}
	args := c.pieces(call.Args)
	switch c.rand.IntN(3) {
	case 0: // all at once
		fragment(map[string]any{"arguments": call.Args}, true)
		return
	case 1: // a placeholder first
		fragment(map[string]any{"arguments": "{}"}, true)
	default:
		fragment(map[string]any{"arguments": ""}, true)
	}
	for _, piece := range args {
		fragment(map[string]any{"arguments": piece}, false)
	}
}

func (c *chunking) stream(text string, calls []contract.ToolCall) []byte {
	for _, piece := range c.pieces(text) {
		c.frame(map[string]any{"content": piece}, nil)
	}
	style := c.rand.IntN(3)
	for i, call := range calls {
		c.call(i, call, style)
	}
	c.frame(map[string]any{}, []string{"stop", "tool_calls"}[c.rand.IntN(2)])
	if c.rand.IntN(2) == 0 {
		c.out.WriteString("data: [DONE]\n\n")
	}
	return c.out.Bytes()
}

// FuzzChunkings: however the same answer is cut and numbered, it is the same.
func FuzzChunkings(f *testing.F) {
	f.Add("Grüße 😀", "x", 12, uint64(1))
	f.Add("", "line\n\"quoted\"", -1, uint64(2))
	f.Fuzz(func(t *testing.T, text, value string, number int, seed uint64) {
		text, value = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", ""), strings.ToValidUTF8(value, "?")
		args := func(v any) string { data, _ := json.Marshal(v); return string(data) }
		calls := []contract.ToolCall{
			{ID: "c1", Name: "f", Args: args(map[string]any{"v": value})},
			{ID: "c2", Name: "f", Args: args(map[string]any{"n": number, "in": map[string]any{"v": value}})},
			{ID: "c3", Name: "g", Args: args(map[string]any{"list": []string{value, "{}"}})},
		}
		c := &chunking{rand: rand.New(rand.NewPCG(seed, 7))}
		in := c.stream(text, calls)
		got := ask(t, answering(200, "text/event-stream", func() io.Reader { return inPieces(in, seed) }))
		if got.Answer == nil {
			t.Fatalf("%v\n%s", got.Error, in)
		}
		if diff := cmp.Diff(calls, got.Answer.Calls); diff != "" || got.Answer.Text != text {
			t.Errorf("%s\ntext %q, want %q\n%s", diff, got.Answer.Text, text, in)
		}
	})
}

// FuzzMutatedFrames: frames that are cut, dropped, doubled, swapped or have a
// byte changed: no panic, and no call whose name no frame had, nor an answer
// without an end.
func FuzzMutatedFrames(f *testing.F) {
	cases, err := filepath.Glob("testdata/*/in.sse")
	if err != nil || len(cases) == 0 {
		f.Fatal(err)
	}
	for i, path := range cases {
		in, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(in, uint64(i), uint64(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed, times uint64) {
		r := rand.New(rand.NewPCG(seed, 11))
		frames := bytes.Split(in, []byte("\n\n"))
		for range times % 8 {
			i, j := r.IntN(len(frames)), r.IntN(len(frames))
			switch r.IntN(5) {
			case 0:
				frames[i] = frames[i][:r.IntN(len(frames[i])+1)]
			case 1:
				frames[i] = nil
			case 2:
				frames[i] = append(append(bytes.Clone(frames[j]), '\n', '\n'), frames[i]...)
			case 3:
				frames[i], frames[j] = frames[j], frames[i]
			case 4:
				if n := len(frames[i]); n > 0 {
					frames[i] = bytes.Clone(frames[i])
					frames[i][r.IntN(n)] = byte(r.IntN(256))
				}
			}
		}
		mutated := bytes.Join(frames, []byte("\n\n"))
		got := ask(t, answering(200, "text/event-stream", func() io.Reader { return bytes.NewReader(mutated) }))
		if got.Answer == nil {
			return
		}
		if !bytes.Contains(mutated, []byte("[DONE]")) && got.Answer.FinishReason == "" && !bytes.HasPrefix(bytes.TrimSpace(mutated), []byte("{")) {
			t.Errorf("an answer without an end: %s", mutated)
		}
		for _, call := range got.Answer.Calls {
			quoted, _ := json.Marshal(call.Name)
			if call.Name != "" && !bytes.Contains(mutated, quoted) && !bytes.ContainsAny(mutated, "\\\xff") && !strings.Contains(call.Name, "\uFFFD") {
				t.Errorf("an invented call %q: %s", call.Name, mutated)
			}
		}
	})
}

// TestTruncatedAnywhere: an answer that is cut at any byte is an error, or,
// once its end was seen, whole.
func TestTruncatedAnywhere(t *testing.T) {
	t.Parallel()
	calls := []contract.ToolCall{{ID: "c1", Name: "f", Args: `{"v":"x"}`}, {ID: "c2", Name: "g", Args: `{"n":12}`}}
	c := &chunking{rand: rand.New(rand.NewPCG(5, 7))}
	in := c.stream("hello", calls)
	for n := range in {
		got := ask(t, answering(200, "text/event-stream", func() io.Reader { return bytes.NewReader(in[:n]) }))
		if got.Answer != nil && !cmp.Equal(got.Answer.Calls, calls) {
			t.Fatalf("cut at %d: %+v", n, got.Answer.Calls)
		}
		if got.Error != nil && !got.Retryable {
			t.Fatalf("cut at %d: %v", n, got.Error)
		}
	}
}
