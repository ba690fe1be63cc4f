package workflows

import (
	"testing"

	"github.com/turnkeel/turnkeel/contract"
)

// F06, R04: the same call with the same result in a row is warned of at the third
// time and ends the turn at the sixth, whether it failed, succeeded or never
// was valid; another result, another call or a tool that polls does not count.
func TestLoopWatch(t *testing.T) {
	t.Parallel()
	done := func(text string) contract.Entry { return contract.Entry{Outcome: contract.OutcomeDone, Text: text} }
	get := contract.PlannedCall{Name: "get", Args: `{"a":1,"b":2}`, Run: &contract.RunPlan{}} // canonical, whatever order the model wrote
	none := contract.PlannedCall{Name: "get", Args: `{}`, Run: &contract.RunPlan{}}
	poll := contract.PlannedCall{Name: "get", Args: `{}`, Run: &contract.RunPlan{Poller: true}}
	broken := contract.PlannedCall{Name: "get", Raw: `{"a":`}
	type seen struct {
		call  contract.PlannedCall
		entry contract.Entry
	}
	repeat := func(n int, s ...seen) (all []seen) {
		for range n {
			all = append(all, s...)
		}
		return all
	}
	for _, c := range []struct {
		name   string
		calls  []seen
		warned int
		stuck  bool
	}{
		{"twice", repeat(2, seen{get, done("x")}), 0, false},
		{"three times", repeat(3, seen{get, done("x")}), 1, false},
		{"six times", repeat(6, seen{get, done("x")}), 4, true},
		{"six times without arguments", repeat(6, seen{none, done("x")}), 4, true},
		{"six failures", repeat(6, seen{get, contract.Entry{Outcome: contract.OutcomeFailed, Text: "no"}}), 4, true},
		{"six times what is no JSON", repeat(6, seen{broken, contract.Entry{Outcome: contract.OutcomeNotExecuted, Text: "invalid"}}), 4, true},
		{"a tool that polls", repeat(10, seen{poll, done("x")}), 0, false},
		{"a poll in between", repeat(6, seen{get, done("x")}, seen{poll, done("y")}), 4, true},
		{"other results", repeat(5, seen{get, done("x")}, seen{get, done("y")}, seen{get, done("z")}), 0, false},
		{"two in turns", repeat(6, seen{get, done("x")}, seen{none, done("x")}), 7, true},
		{"stopped in time", append(repeat(5, seen{get, done("x")}), seen{get, done("y")}), 3, false},
	} {
		var watch loopWatch
		warned := 0
		for _, s := range c.calls {
			watch.see(s.call, &s.entry, func() bool { return true })
			if s.entry.Note != "" {
				warned++
			}
		}
		if warned != c.warned || watch.stuck != c.stuck {
			t.Errorf("%s: %d warnings, stuck %t; want %d, %t", c.name, warned, watch.stuck, c.warned, c.stuck)
		}
	}
}
