package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"

	"github.com/turnkeel/turnkeel/contract"
)

// longStream is an answer of n chunks of text and one call, as OpenAI sends it.
func longStream(n int) []byte {
	var b bytes.Buffer
	chunk := func(delta string) {
		fmt.Fprintf(&b, `data: {"id":"chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG","object":"chat.completion.chunk","created":1741570283,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_fc9f1d7035","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":null}],"usage":null}`+"\n\n", delta)
	}
	for range n {
		chunk(`{"content":" eleven more"}`)
	}
	chunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]}`)
	for range n {
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":" "}}]}`)
	}
	chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`)
	b.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n")
	return b.Bytes()
}

func serving(data []byte) *http.Client {
	return &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Request: req, Header: http.Header{"Content-Type": {"text/event-stream"}},
			Body: io.NopCloser(bytes.NewReader(data)),
		}, nil
	})}
}

func useAdapter(b testing.TB, data []byte) {
	c := New(Endpoint{BaseURL: "http://x/v1", HTTPClient: serving(data)})
	if _, err := c.Complete(context.Background(), Request{Model: "m", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}}, nil); err != nil {
		b.Fatal(err)
	}
}

func useGoOpenAI(b testing.TB, data []byte) {
	config := openai.DefaultConfig("")
	config.BaseURL, config.HTTPClient = "http://x/v1", serving(data)
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(context.Background(), openai.ChatCompletionRequest{
		Model: "m", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "go"}},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	var text, args strings.Builder
	for {
		got, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
		for _, ch := range got.Choices {
			text.WriteString(ch.Delta.Content)
			for _, c := range ch.Delta.ToolCalls {
				args.WriteString(c.Function.Arguments)
			}
		}
	}
}

// BenchmarkLongAnswer assembles a streamed answer of 600 kB, beside go-openai
// doing no more than joining the texts.
func BenchmarkLongAnswer(b *testing.B) {
	data := longStream(1000)
	for name, use := range map[string]func(testing.TB, []byte){"adapter": useAdapter, "go-openai": useGoOpenAI} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				use(b, data)
			}
		})
	}
}

// BenchmarkCall is a call with the shortest answer: what the adapter costs.
func BenchmarkCall(b *testing.B) {
	data := longStream(1)
	for name, use := range map[string]func(testing.TB, []byte){"adapter": useAdapter, "go-openai": useGoOpenAI} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				use(b, data)
			}
		})
	}
}

// TestAllocations: fewer than two allocations for each streamed kilobyte beyond
// go-openai's own.
func TestAllocations(t *testing.T) {
	data := longStream(500)
	ours := testing.AllocsPerRun(3, func() { useAdapter(t, data) })
	theirs := testing.AllocsPerRun(3, func() { useGoOpenAI(t, data) })
	if more := (ours - theirs) / (float64(len(data)) / 1024); more >= 2 {
		t.Errorf("%.1f allocations more for each kB (%v, go-openai %v)", more, ours, theirs)
	}
}

// TestLongArguments: the time of a long call grows with its length, not with
// its square. With the square this would take minutes.
func TestLongArguments(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"v\":\""}}]}}]}` + "\n\n")
	const pieces = 100_000
	for range pieces {
		b.WriteString(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"} {] "}}]}}]}` + "\n\n")
	}
	b.WriteString(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"finish_reason":"stop"}]}` + "\n\n")
	got := ask(t, answering(200, "text/event-stream", func() io.Reader { return bytes.NewReader(b.Bytes()) }))
	if got.Answer == nil || len(got.Answer.Calls[0].Args) != len(`{"v":""}`)+pieces*len("} {] ") {
		t.Errorf("%+v", got.Error)
	}
}
