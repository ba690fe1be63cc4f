package toolcall

import (
	"context"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// BenchmarkT32_HundredCalls is one turn with 100 parallel-safe calls of 100 ms
// each, of which 8 run at a time: 13 rounds, ideally 1.3 s. Reported are the
// time from the scheduling of the first call to the end of the last, how many
// times the ideal that is, and how many times a bare workflow of the same
// shape. bench/RESULTS.md has the numbers.
func BenchmarkT32_HundredCalls(b *testing.B) {
	const n, wide, each = 100, 8, 100 * time.Millisecond
	const ideal = (n + wide - 1) / wide * each
	tool := note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Effects, s.ParallelSafe = tooldefs.None, tooldefs.Always
		s.Handler = func(ctx context.Context, _ *tooldefs.Call, in noteIn) (any, error) {
			select {
			case <-time.After(each):
			case <-ctx.Done():
			}
			return in.N, ctx.Err()
		}
	})
	var asked []agenttest.ScriptCall
	for i := range n {
		asked = append(asked, calls(i+1))
	}
	bench := agenttest.NewBench(b, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{tool},
		Agent:  contract.Agent{Limits: contract.Limits{MaxToolCallsPerStep: n, MaxToolConcurrency: wide}},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: asked}, {Text: "done"}}},
	})
	queue := bareWorker(b, bench.Temporal)
	var took, bare time.Duration
	for b.Loop() { // one of each in turn: a busy machine is busy for both
		out := bench.Run("go")
		if out.Result.Effects.Done != n {
			b.Fatalf("%+v, %v", out.Result, out.Err)
		}
		took += span(out)
		bare += bareSpan(b, bench.Temporal, queue, bareBatch{Calls: n, Wide: wide, Each: each})
	}
	rounds := float64(b.N)
	b.ReportMetric(took.Seconds()/rounds, "s/batch")
	b.ReportMetric(took.Seconds()/rounds/ideal.Seconds(), "x-ideal")
	b.ReportMetric(bare.Seconds()/rounds/ideal.Seconds(), "bare-x-ideal")
	b.ReportMetric(took.Seconds()/bare.Seconds(), "x-bare")
}

// span is the time from the first call's scheduling to the last one's end, by
// the server's clock.
func span(out agenttest.Outcome) time.Duration {
	first, last := *out.Effects[0].Scheduled, *out.Effects[0].Closed
	for _, e := range out.Effects {
		if e.Scheduled.Before(first) {
			first = *e.Scheduled
		}
		if e.Closed.After(last) {
			last = *e.Closed
		}
	}
	return last.Sub(first)
}
