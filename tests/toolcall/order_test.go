package toolcall

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	historypb "go.temporal.io/api/history/v1"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// named is a tool that notes a number, under a name of its own.
func named(name string, change func(*tooldefs.Spec[noteIn, any])) *tooldefs.Tool {
	return note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Name = name
		change(s)
	})
}

func callOf(tool string, n int) agenttest.ScriptCall {
	return agenttest.ScriptCall{Name: tool, Args: map[string]any{"n": n}}
}

// open is a tool call, and the event ids between which it was open.
type open struct {
	Type       string
	From, Till int64
}

// opens are the tool calls of a history by their ordinal, from 0.
func opens(t *testing.T, h *historypb.History) []open {
	t.Helper()
	at := map[int64]int{}
	var list []open
	for _, e := range h.GetEvents() {
		if a := e.GetActivityTaskScheduledEventAttributes(); strings.HasPrefix(a.GetActivityType().GetName(), "tool.") {
			var ordinal int
			if _, err := fmt.Sscanf(a.GetActivityId(), "s1.c%d", &ordinal); err != nil {
				t.Fatalf("activity %q: %v", a.GetActivityId(), err)
			}
			for len(list) < ordinal {
				list = append(list, open{})
			}
			at[e.GetEventId()] = ordinal - 1
			list[ordinal-1] = open{Type: a.GetActivityType().GetName(), From: e.GetEventId()}
		}
		scheduled := max(e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId(), e.GetActivityTaskFailedEventAttributes().GetScheduledEventId())
		if i, ok := at[scheduled]; ok {
			list[i].Till = e.GetEventId()
		}
	}
	return list
}

// peak is how many calls were open at a time, of one type or of all.
func peak(list []open, kind string) int {
	most := 0
	for _, at := range list {
		n := 0
		for _, o := range list {
			if (kind == "" || o.Type == kind) && o.From <= at.From && at.From < o.Till {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// T30, T31: neighbouring parallel-safe calls run beside each other; a call that
// is not is a barrier: it is scheduled when all before it have ended, and all
// after it when it has. The predicate decides by the arguments, and what the
// model writes beside them does not.
func TestT31_ASerialCallIsABarrier(t *testing.T) {
	t.Parallel()
	together := map[int]chan struct{}{1: make(chan struct{}), 2: make(chan struct{}), 6: make(chan struct{}), 7: make(chan struct{})}
	beside := map[int]int{1: 2, 2: 1, 6: 7, 7: 6}
	handler := func(ctx context.Context, _ *tooldefs.Call, in noteIn) (any, error) {
		if other, ok := beside[in.N]; ok { // neither ends before the other has begun
			close(together[in.N])
			select {
			case <-together[other]:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return in.N, nil
	}
	tools := []*tooldefs.Tool{
		named("side", func(s *tooldefs.Spec[noteIn, any]) {
			s.Effects, s.Handler = tooldefs.None, handler
			s.ParallelSafe = func(raw string) bool { return !strings.Contains(raw, "5") }
		}),
		named("solo", func(s *tooldefs.Spec[noteIn, any]) { s.Effects, s.Handler = tooldefs.None, handler }),
	}
	out, read := turn(t, tools, callOf("side", 1), callOf("side", 2), callOf("solo", 3),
		agenttest.ScriptCall{Name: "functions.solo:0", Raw: `"{\"n\": 4}"`}, callOf("side", 5), callOf("side", 6), callOf("side", 7))
	list := opens(t, out.History)
	for i, text := range read {
		if text != fmt.Sprint(i+1) {
			t.Errorf("call %d: the model read %q", i+1, text)
		}
		serial := i >= 2 && i <= 4
		for j := range list {
			if j != i && serial && list[j].From < list[i].Till && list[i].From < list[j].Till {
				t.Errorf("call %d is serial and open beside call %d: %+v", i+1, j+1, list)
			}
			if j > i && serial && list[j].From < list[i].Till || j < i && serial && list[j].Till > list[i].From {
				t.Errorf("call %d moved across call %d: %+v", j+1, i+1, list)
			}
		}
	}
	if n := peak(list, ""); n != 2 {
		t.Errorf("peak %d", n)
	}
}

// T32: 20 calls under limit 2: the tool counts itself twice at a time, never
// more, and all 20 run. The history says the same.
func TestT32_TheBoundIsExact(t *testing.T) {
	t.Parallel()
	const n, wide = 20, 2
	var mu sync.Mutex
	now, most := 0, 0
	full := make(chan struct{})
	tool := note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Effects, s.ParallelSafe = tooldefs.None, tooldefs.Always
		s.Handler = func(ctx context.Context, _ *tooldefs.Call, in noteIn) (any, error) {
			mu.Lock()
			now++
			if most = max(most, now); now == wide {
				select {
				case <-full:
				default:
					close(full)
				}
			}
			mu.Unlock()
			defer func() { mu.Lock(); now--; mu.Unlock() }()
			select { // the first ones wait for each other
			case <-full:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return in.N, nil
		}
	})
	out := bounded(t, []*tooldefs.Tool{tool}, wide, n, func(i int) string { return "note" })
	if out.Result.Effects.Done != n || most != wide || peak(opens(t, out.History), "") != wide {
		t.Errorf("done %d, the tool counted %d, the history %d", out.Result.Effects.Done, most, peak(opens(t, out.History), ""))
	}
}

// T32: a tool's own cap holds beside the agent's, and a call that waits for it
// takes no room from others.
func TestT32_CapOfATool(t *testing.T) {
	t.Parallel()
	parallel := func(limit int) func(*tooldefs.Spec[noteIn, any]) {
		return func(s *tooldefs.Spec[noteIn, any]) {
			s.Effects, s.ParallelSafe, s.MaxConcurrency = tooldefs.None, tooldefs.Always, limit
		}
	}
	tools := []*tooldefs.Tool{named("capped", parallel(2)), named("free", parallel(0))}
	out := bounded(t, tools, 8, 24, func(i int) string { return []string{"capped", "free"}[i%2] })
	list := opens(t, out.History)
	if out.Result.Effects.Done != 24 || peak(list, "tool.capped") != 2 || peak(list, "") != 8 {
		t.Errorf("done %d, peaks %d and %d", out.Result.Effects.Done, peak(list, "tool.capped"), peak(list, ""))
	}
}

// bounded runs n calls in one answer, at most wide at a time.
func bounded(t *testing.T, tools []*tooldefs.Tool, wide, n int, tool func(i int) string) agenttest.Outcome {
	t.Helper()
	var asked []agenttest.ScriptCall
	for i := range n {
		asked = append(asked, callOf(tool(i), i+1))
	}
	return agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: tools, Agent: contract.Agent{Limits: contract.Limits{MaxToolConcurrency: wide}},
		Script: agenttest.Script{Steps: []agenttest.Step{{Calls: asked}, {Text: "done"}}},
	}).Run("go")
}
