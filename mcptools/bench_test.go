package mcptools

import (
	"encoding/json"
	"testing"

	"github.com/turnkeel/turnkeel/internal/mask"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// BenchmarkCall is a call of a server's tool over its pipes, the listing that
// holds its definition against the pinned one included.
func BenchmarkCall(b *testing.B) {
	s := newScripted(b, script{Tools: oneTool("send", "Sends.", textSchema), Result: json.RawMessage(`{"content":[{"type":"text","text":"sent"}]}`)})
	tool := s.connect(Options{}).Tools()[0]
	for b.Loop() {
		call := tooldefs.NewCall(tooldefs.CallInfo{Tool: tool.Name(), Key: "k", Turn: "t"})
		if _, err := tool.Run(b.Context(), call, `{"text":"a"}`); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMask is what taking five secrets out of a result of 16 KB costs.
func BenchmarkMask(b *testing.B) {
	values := map[string]string{}
	for _, name := range []string{"A", "B", "C", "D", "E"} {
		values[name] = "a-secret-of-some-length-" + name
	}
	data := []byte(`{"text":"`)
	for len(data) < 16<<10 {
		data = append(data, "some words of a usual result, "...)
	}
	data = append(data, `"}`...)
	for b.Loop() {
		mask.New(values).JSON(data)
	}
}
