package tooldefs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/turnkeel/turnkeel/tooldefs"
)

type tenFields struct {
	A string         `json:"a"`
	B int            `json:"b" jsonschema:"minimum=0"`
	C string         `json:"c" jsonschema:"pattern=^[a-z]+$"`
	D bool           `json:"d,omitempty"`
	E float64        `json:"e,omitempty"`
	F []string       `json:"f,omitempty"`
	G map[string]int `json:"g,omitempty"`
	H string         `json:"h,omitempty" jsonschema:"enum=one,enum=two"`
	I string         `json:"i,omitempty" jsonschema:"maxLength=100"`
	J int            `json:"j" jsonschema:"default=7"`
}

// BenchmarkCheck10 is all argument gates of a typical call: ten fields,
// decoded. Wanted: under 50 µs.
func BenchmarkCheck10(b *testing.B) {
	tool := echo[tenFields]("x")
	args := `{"a":"some text","b":12,"c":"abc","d":true,"e":1.5,"f":["x","y"],"g":{"x":1},"h":"two","i":"more text","j":3}`
	b.ReportAllocs()
	for b.Loop() {
		if got := tool.Check(args); got.Problem != "" {
			b.Fatal(got.Problem)
		}
	}
}

// BenchmarkDefine1000 is the start of a worker with 1,000 tools of ten fields
// each. Wanted: under a second.
func BenchmarkDefine1000(b *testing.B) {
	for name, output := range map[string]tooldefs.Output{"plain": {}, "validated output": tooldefs.InferOutput()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				tools := make([]*tooldefs.Tool, 1_000)
				for i := range tools {
					tools[i] = tooldefs.Define(tooldefs.Spec[tenFields, tenFields]{
						Name: fmt.Sprintf("tool_%d", i), Description: "d", Output: output,
						Handler: func(_ context.Context, _ *tooldefs.Call, in tenFields) (tenFields, error) { return in, nil },
					})
				}
				if _, err := tooldefs.NewSet(tools...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzWrap: no schema and no arguments make any step of a foreign tool panic.
func FuzzWrap(f *testing.F) {
	f.Add(`{"properties":{"n":{"type":"number","maximum":10}}}`, `{"n":1E1000001}`)
	f.Add(`{"allOf":[{"$ref":"#"}]}`, `{}`)
	f.Add(`{"properties":{"a":{"default":{"b":[1]}}},"additionalProperties":false}`, `"{\"A\":null}"`)
	f.Fuzz(func(t *testing.T, raw, args string) {
		got := ""
		tool, err := tooldefs.Wrap(tooldefs.WrapSpec{
			Name: "x", Description: "d", Schema: []byte(raw), Approval: tooldefs.Always,
			Invoke: func(_ context.Context, _ *tooldefs.Call, args json.RawMessage) (any, error) {
				got = string(args)
				return got, nil
			},
		})
		if err != nil {
			return
		}
		checked := tool.Check(args)
		_, _ = tool.Summary(args), tool.ParallelSafe(args)
		if needed, _, _ := tool.ApprovalNeeded(args); !needed {
			t.Fatal("no approval")
		}
		if checked.Problem != "" {
			return
		}
		if _, err := tool.Invoke(context.Background(), testCall(), checked.Canonical); err != nil || got != checked.Canonical {
			t.Fatalf("recorded %q, received %q, %v", checked.Canonical, got, err)
		}
	})
}
