package lineage

import (
	"errors"
	"testing"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
)

var errGone = errors.New("a run is gone")

// The table of [Index.Call].
func TestCall(t *testing.T) {
	t.Parallel()
	const (
		once, keyed, safe = contract.ClassAtMostOnce, contract.ClassKeyed, contract.ClassSafeToRetry
		at, other         = "s1.c1", "s2.c5"
	)
	scope := effect.Scope{Namespace: "n", WorkflowID: "w", FirstRunID: "r"}
	derived := effect.Key(scope, "pay", "{}", 0)
	override := effect.OverrideKey(scope, "pay", "o")
	done := Find{ActivityID: at, Outcome: contract.OutcomeDone}
	failed := Find{ActivityID: at, Outcome: contract.OutcomeFailed, Kind: contract.ErrToolFailed}
	unknown := Find{ActivityID: at, Outcome: contract.OutcomeUnknown}
	free := Find{ActivityID: at, Outcome: contract.OutcomeNotExecuted}
	cleared := Find{ActivityID: at + ".r1", Outcome: contract.OutcomeUnknown, Cleared: true}
	moved := func(f Find) Find { f.ActivityID = other; return f }
	for _, c := range []struct {
		name     string
		key      string // derived by default
		class    contract.Class
		finds    []Find
		doubt    error
		cleared  string
		noReplay bool
		id       string
		want     Verdict
	}{
		{name: "nothing found", class: once, want: VerdictRun},
		{name: "completed wins", class: once, finds: []Find{unknown, failed, done, free}, want: VerdictDone},
		{name: "completed wins, keyed", class: keyed, finds: []Find{unknown, done}, want: VerdictDone},
		{name: "completed read", class: safe, finds: []Find{done}, want: VerdictDone},
		{name: "T34 NoReplay", class: safe, finds: []Find{done}, noReplay: true, want: VerdictRun},
		{name: "NoReplay is for reads only", class: once, finds: []Find{done}, noReplay: true, want: VerdictDone},
		{name: "completed wins over a doubt", class: once, finds: []Find{done}, doubt: errGone, want: VerdictDone},
		{name: "failed", class: once, finds: []Find{failed}, want: VerdictFailed},
		{name: "failed elsewhere", class: once, finds: []Find{moved(failed)}, want: VerdictFailed},
		{name: "failed and unknown", class: once, finds: []Find{failed, unknown}, want: VerdictUnknown},
		{name: "failed and unknown, keyed", class: keyed, finds: []Find{failed, unknown}, want: VerdictRun},
		{name: "failed and unknown, read", class: safe, finds: []Find{failed, unknown}, want: VerdictFailed},
		{name: "unknown", class: once, finds: []Find{free, unknown}, want: VerdictUnknown},
		{name: "unknown, keyed", class: keyed, finds: []Find{unknown}, want: VerdictRun},
		{name: "unknown, read", class: safe, finds: []Find{unknown}, want: VerdictRun},
		{name: "never executed", class: once, finds: []Find{free, free}, want: VerdictRun},
		{name: "a doubt", class: once, doubt: errGone, want: VerdictUnknown},
		{name: "a doubt and a failure", class: once, finds: []Find{failed}, doubt: errGone, want: VerdictUnknown},
		{name: "a doubt, keyed", class: keyed, doubt: errGone, want: VerdictRun},
		{name: "a doubt, read", class: safe, doubt: errGone, want: VerdictRun},
		{name: "cleared", class: once, finds: []Find{unknown}, cleared: "human", want: VerdictRun},
		{name: "cleared in a doubt", class: once, finds: []Find{unknown}, doubt: errGone, cleared: "human", want: VerdictRun},
		{name: "cleared before a later start", class: once, finds: []Find{unknown, cleared}, cleared: "human", id: at + ".r1", want: VerdictUnknown},
		{name: "cleared after it", class: once, finds: []Find{unknown, cleared}, cleared: "human", id: at + ".r2", want: VerdictRun},
		{name: "cleared tenth", class: once, finds: []Find{cleared}, cleared: "human", id: at + ".r10", want: VerdictRun},
		{name: "P18 override: another call's failure", key: override, class: once, finds: []Find{moved(failed)}, want: VerdictRun},
		{name: "override: this call's failure", key: override, class: once, finds: []Find{failed, moved(done)}, want: VerdictFailed},
		{name: "override: done elsewhere", key: override, class: once, finds: []Find{moved(failed), moved(done)}, want: VerdictDone},
		{name: "override: unknown elsewhere", key: override, class: once, finds: []Find{moved(unknown)}, want: VerdictUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.key == "" {
				c.key = derived
			}
			if c.id == "" {
				c.id = at
			}
			x := &Index{scope: effect.Scope{WorkflowID: "w", FirstRunID: "r"}, finds: map[string][]Find{c.key: c.finds}, calls: len(c.finds), doubt: c.doubt}
			got := x.Call(Call{ActivityID: c.id, Namespace: "n", Tool: "pay", Input: contract.ToolInput{
				Args: "{}", Key: c.key, Class: c.class, Cleared: c.cleared, NoReplay: c.noReplay,
			}})
			if got.Verdict != c.want {
				t.Errorf("%s, want %s", got.Verdict, c.want)
			}
		})
	}
}
