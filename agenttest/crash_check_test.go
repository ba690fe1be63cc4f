package agenttest

import (
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// A proof that cannot fail is none: each broken promise is a problem, and
// nothing else is.
func TestCrashCheck_FindsBrokenPromises(t *testing.T) {
	t.Parallel()
	told := contract.TextUnknown("pay", "its worker was lost")
	once, again := Arrival{Key: "k"}, Arrival{Key: "k", Deduplicated: true}
	for _, c := range []struct {
		name    string
		class   contract.Class
		outcome contract.Outcome
		told    string
		arrived []Arrival
		want    string // part of the one problem; empty: none
	}{
		{"at most once, done", contract.ClassAtMostOnce, contract.OutcomeDone, "ok", []Arrival{once}, ""},
		{"at most once, twice", contract.ClassAtMostOnce, contract.OutcomeDone, "ok", []Arrival{once, once}, "arrived 2 times"},
		{"at most once, twice, the service knew it", contract.ClassAtMostOnce, contract.OutcomeDone, "ok", []Arrival{once, again}, "arrived 2 times"},
		{"keyed, the service knew it", contract.ClassKeyed, contract.OutcomeDone, "ok", []Arrival{once, again, again}, ""},
		{"keyed, applied twice", contract.ClassKeyed, contract.OutcomeDone, "ok", []Arrival{once, once}, "was applied 2 times"},
		{"safe to retry, twice", contract.ClassSafeToRetry, contract.OutcomeDone, "ok", []Arrival{once, once}, ""},
		{"done without an arrival", contract.ClassKeyed, contract.OutcomeDone, "ok", nil, "never arrived"},
		{"unknown and told, arrived", contract.ClassAtMostOnce, contract.OutcomeUnknown, told, []Arrival{once}, ""},
		{"unknown and told, not arrived", contract.ClassAtMostOnce, contract.OutcomeUnknown, told, nil, ""},
		{"unknown and not told", contract.ClassAtMostOnce, contract.OutcomeUnknown, "ok", []Arrival{once}, "the model was told"},
		{"not executed", contract.ClassKeyed, contract.OutcomeNotExecuted, "no", nil, ""},
		{"not executed and arrived", contract.ClassKeyed, contract.OutcomeNotExecuted, "no", []Arrival{once}, "said to be not_executed"},
	} {
		check := &crashCheck{
			report: &CrashReport{}, arrived: countArrivals(c.arrived), known: map[string]bool{}, outside: map[string]bool{"pay": true},
		}
		check.effect("t", fold.Effect{Tool: "pay", Key: "k", Class: c.class, Effects: contract.EffectsExternal, Outcome: c.outcome}, c.told)
		check.ledger()
		got := strings.Join(check.report.Problems, "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) || len(check.report.Problems) > 1 {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	stranger := &crashCheck{report: &CrashReport{}, arrived: countArrivals([]Arrival{once})}
	if stranger.ledger(); len(stranger.report.Problems) != 1 {
		t.Errorf("an arrival of no turn: %q", stranger.report.Problems)
	}
}

// A ledger that is not connected with the tools is a problem: else a run would
// be clean because nothing was looked at.
func TestCrashCheck_FindsAWrongLedger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		effects contract.Effects
		arrived []Arrival
		want    string
	}{
		{"of another service", contract.EffectsExternal, nil, "the ledger has no arrival, and 1 calls"},
		{"of a tool without effects", contract.EffectsNone, nil, ""},
		{"without keys", contract.EffectsExternal, []Arrival{{}, {}}, "2 requests arrived without a key"},
		{"of other tools", contract.EffectsExternal, []Arrival{{Key: "other"}}, ""},
	} {
		check := &crashCheck{report: &CrashReport{}, arrived: countArrivals(c.arrived), known: map[string]bool{"other": true}, outside: map[string]bool{}}
		check.effect("t", fold.Effect{Tool: "pay", Key: "k", Class: contract.ClassKeyed, Effects: c.effects, Outcome: contract.OutcomeDone}, "ok")
		check.ledger()
		got := strings.Join(check.report.Problems, "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Every text that tells of an unknown outcome is known as one.
func TestSaysUnknown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		contract.TextUnknown("pay", "why"), contract.TextGaveUp("pay", 3, contract.ClassKeyed), contract.TextNotRepeated("pay"),
		contract.TextTimedOut("pay", 0, contract.ClassKeyed), contract.TextInterrupted("pay"),
	} {
		if !saysUnknown(text) {
			t.Errorf("%q", text)
		}
	}
	if text := contract.TextToolError("pay", "no"); saysUnknown(text) {
		t.Errorf("%q", text)
	}
}
