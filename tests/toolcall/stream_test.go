package toolcall

import (
	"context"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// T04, T43: a chunk reaches a reader before the next one is made; the recorded
// result is the array of all; the replay runs no handler and shows nothing.
func TestT04_StreamInATurn(t *testing.T) {
	t.Parallel()
	words := []string{"one", "two", "three"}
	seen := make([]chan struct{}, len(words))
	for i := range seen {
		seen[i] = make(chan struct{})
	}
	var runs atomic.Int32
	tool := tooldefs.DefineStream(tooldefs.Spec[noteIn, []string]{Name: "note", Description: "d", Effects: tooldefs.None},
		func(ctx context.Context, _ *tooldefs.Call, _ noteIn) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) {
				runs.Add(1)
				for i, word := range words {
					if !yield(word, nil) {
						return
					}
					select { // until it was read
					case <-seen[i]:
					case <-ctx.Done():
					}
				}
			}
		})
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{tool},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{calls(1)}}, {Text: "done"}}},
	})
	turn, err := b.Turns.Start(t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent: agenttest.AgentName, Stream: true, Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for e, err := range turn.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != turnkeel.EventProgress {
			continue
		}
		word := strings.Trim(string(e.Progress), `"`)
		if n := len(shown); n == 0 || shown[n-1] != word {
			if shown = append(shown, word); len(shown) > len(words) || word != words[n] {
				t.Fatalf("shown %q", shown)
			}
			close(seen[n])
		}
	}
	out := b.Wait(turn) // replays it
	if len(shown) != 3 || runs.Load() != 1 || !recorded(t, out, `["one","two","three"]`) || out.Effects[0].Text != `["one","two","three"]` {
		t.Errorf("shown %q, %d runs, %+v", shown, runs.Load(), out.Effects[0])
	}
}
