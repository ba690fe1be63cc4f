package deploy

import (
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// C03: a deploy without one of the tools breaks no turn: the history of parallel
// calls replays on it, and a turn that was parked goes on, with an ordinary
// error where it asks for the tool that is gone.
func TestTools_RemovedByADeploy(t *testing.T) {
	t.Parallel()
	tips := make([]agenttest.ScriptCall, 5)
	for i := range tips {
		tips[i] = agenttest.ScriptCall{Name: "tip", Args: map[string]any{"cents": i}}
	}
	pay := []agenttest.ScriptCall{{Name: "pay", Args: map[string]any{"cents": 500}}}
	s := &shop{t: t, Bench: agenttest.NewBench(t, agenttest.BenchOptions{Server: server, NoWorker: true, Script: agenttest.Script{
		Steps: []agenttest.Step{{Calls: tips}, {Calls: pay}, {Calls: tips[:1]}, {Text: "done"}},
	}})}
	stop := s.worker("old", "")
	turn := s.Start("pay")
	waits := s.parked(turn.ID)
	stop()
	if r := s.replay("untipped", turn.ID); r.code != 0 || !contains(r.out, "replays ") {
		t.Errorf("exit code %d\n%s%s", r.code, r.out, r.errOut)
	}
	s.worker("untipped", "")
	s.approve(turn.ID, waits)
	out := s.Wait(turn)
	if out.Err != nil || out.Result.Status != contract.StatusCompleted || len(out.Effects) != 7 {
		t.Fatalf("%+v, %v, %d effects", out.Result, out.Err, len(out.Effects))
	}
	for i, e := range out.Effects {
		want := contract.OutcomeDone
		if i == 6 {
			want = contract.OutcomeInvalid
		}
		if e.Outcome != want {
			t.Errorf("effect %d: %s %s, want %s", i+1, e.Tool, e.Outcome, want)
		}
	}
	if text := out.Effects[6].Text; !contains(text, "tip") {
		t.Errorf("of the tool that is gone the model reads %q", text)
	}
}
