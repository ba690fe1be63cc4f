package lineage

import (
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// T43: the worker of a call that has shown progress is killed, for good: the
// call is not run again. Temporal's timeout event holds the last heartbeat,
// progress does not stay in it. Only that of the last moments, in a turn that
// streams, can be there, in that one event.
func TestT43_ProgressOfALostWorker(t *testing.T) {
	t.Parallel()
	shows := func(p pending) bool {
		return strings.Contains(strings.Join(converter.GetDefaultDataConverter().ToStrings(p.GetHeartbeatDetails()), ""), planted)
	}
	for _, c := range []struct {
		name   string
		stream bool
		until  []func(pending) bool // in order, before the kill
		kept   int                  // events that may have it
	}{
		{name: "not streamed"},
		{"streamed", true, []func(pending) bool{shows, func(p pending) bool { return !shows(p) }}, 0},
		{"in the last moments", true, []func(pending) bool{shows}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, script(calls(call(tells, "x"))), worldOptions{
				noWorker: true, answer: func(_ arrival, n int) reply { return reply{Hang: n == 1} },
			})
			kill := w.process(t)
			turn, err := w.Turns.Start(t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
				Agent: agenttest.AgentName, Stream: c.stream, Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			w.next(t) // it has told by now
			for _, seen := range c.until {
				w.waitPending(t, turn, seen)
			}
			kill()
			w.process(t)
			out := w.Wait(turn)
			completed(t, out)
			if e := out.Effects[0]; e.Outcome != contract.OutcomeUnknown {
				t.Errorf("%+v", e)
			}
			kept, lost := 0, 0
			for _, e := range out.History.GetEvents() {
				data, err := proto.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				timedOut := e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT
				if timedOut {
					lost++
				}
				if strings.Contains(string(data), planted) {
					kept++
					if !timedOut || c.kept == 0 {
						t.Errorf("event %d, %s, has the progress", e.GetEventId(), e.GetEventType())
					}
				}
			}
			if lost != 1 || kept > c.kept {
				t.Errorf("%d timeouts, the progress is in %d events", lost, kept)
			}
		})
	}
}
