// Package toolcall runs tool calls in whole turns, on a real Temporal server:
// what the model reads of them and what the history holds.
package toolcall

import (
	"context"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/tooldefs"
)

var server agenttest.Server

func TestMain(m *testing.M) {
	os.Exit(agenttest.RunMain(m, &server))
}

type noteIn struct {
	N int `json:"n" jsonschema:"minimum=1"`
}

func note(change func(*tooldefs.Spec[noteIn, any])) *tooldefs.Tool {
	s := tooldefs.Spec[noteIn, any]{
		Name: "note", Description: "Notes a number.",
		Handler: func(_ context.Context, _ *tooldefs.Call, in noteIn) (any, error) { return in.N, nil },
	}
	if change != nil {
		change(&s)
	}
	return tooldefs.Define(s)
}

// turn runs one turn whose first answer makes these calls, and gives what the
// model read of each.
func turn(t *testing.T, tools []*tooldefs.Tool, calls ...agenttest.ScriptCall) (agenttest.Outcome, []string) {
	t.Helper()
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: tools, Script: agenttest.Script{Steps: []agenttest.Step{{Calls: calls}, {Text: "done"}}},
	})
	out := b.Run("go")
	if out.Err != nil || out.Result.Text != "done" {
		t.Fatalf("the turn did not go on: %+v, %v", out.Result, out.Err)
	}
	requests := b.Model.Requests()
	var read []string
	for _, m := range requests[len(requests)-1].Messages {
		if m.Role == "tool" {
			read = append(read, m.Content)
		}
	}
	if len(read) != len(calls) {
		t.Fatalf("the model read %d results of %d calls", len(read), len(calls))
	}
	return out, read
}

func calls(n int) agenttest.ScriptCall {
	return agenttest.ScriptCall{Name: "note", Args: map[string]any{"n": n}}
}

// recorded says whether the history holds a text, in any payload or failure.
func recorded(t *testing.T, out agenttest.Outcome, text string) bool {
	t.Helper()
	data, err := proto.Marshal(out.History)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(data), text)
}
