package toolcall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	historypb "go.temporal.io/api/history/v1"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// T33: calls finish from the last to the first, one fails and one panics; the
// siblings are not disturbed, and the model reads the results in the order of
// its calls. The replay of every turn here builds the same transcript.
func TestT33_ResultsInSourceOrder(t *testing.T) {
	t.Parallel()
	const n = 6
	client := server.Dial(t)
	tool := note(func(s *tooldefs.Spec[noteIn, any]) {
		s.Effects, s.ParallelSafe = tooldefs.None, tooldefs.Always
		s.Handler = func(ctx context.Context, call *tooldefs.Call, in noteIn) (any, error) {
			for running := n + 1; running > in.N; { // until all later calls are recorded
				d, err := client.DescribeWorkflow(ctx, call.TurnID(), "")
				if err != nil {
					return nil, err
				}
				running = len(d.RawResponse.GetPendingActivities())
			}
			switch in.N {
			case 2:
				return nil, errors.New("no second")
			case 5:
				panic("fifth")
			}
			return fmt.Sprint("result ", in.N), nil
		}
	})
	var asked []agenttest.ScriptCall
	for i := range n {
		asked = append(asked, calls(i+1))
	}
	out, read := turn(t, []*tooldefs.Tool{tool}, asked...)
	for i, want := range []string{"result 1", "error: note failed: no second", "result 3", "result 4", "error: note failed: internal error", "result 6"} {
		if !strings.HasPrefix(read[i], want) || out.Effects[i].Ordinal != i+1 {
			t.Errorf("call %d: the model read %q, want %q", i+1, read[i], want)
		}
	}
	if e := out.Result.Effects; e.Done != n-2 || e.Failed != 2 {
		t.Errorf("%+v", e)
	}
	if got, want := closed(out.History), []string{"s1.c6", "s1.c5", "s1.c4", "s1.c3", "s1.c2", "s1.c1"}; !slices.Equal(got, want) {
		t.Errorf("recorded as %v, want %v", got, want)
	}
}

// closed are the tool calls in the order in which their ends were recorded.
func closed(h *historypb.History) []string {
	ids := map[int64]string{}
	var order []string
	for _, e := range h.GetEvents() {
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil && strings.HasPrefix(a.GetActivityType().GetName(), "tool.") {
			ids[e.GetEventId()] = a.GetActivityId()
		}
		scheduled := max(e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId(), e.GetActivityTaskFailedEventAttributes().GetScheduledEventId())
		if id := ids[scheduled]; id != "" {
			order = append(order, id)
		}
	}
	return order
}
