package activities

import (
	"context"
	"testing"

	"github.com/turnkeel/turnkeel/contract"
)

// T35, C08: a result that is there when the time is over is what happened. The
// choice is not left to chance, so it is asked for often.
func TestAwait_PrefersTheResult(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 200 {
		done := make(chan returned, 1)
		done <- returned{result: contract.ToolResult{Text: "paid"}}
		if r, back := await(over, done); !back || r.result.Text != "paid" {
			t.Fatalf("a result that is there was not taken: %+v, %v", r, back)
		}
		if _, back := await(over, done); back {
			t.Fatal("a result that is not there was taken")
		}
	}
}
