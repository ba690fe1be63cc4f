package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/contract"
)

// R04, R06, F06: what repeats itself, with the same arguments and the same result,
// is warned of at the third time and ended at the sixth, with a reason of its
// own. A tool that polls, another result and other arguments are no repeats.
func TestTurn_Loop(t *testing.T) {
	t.Parallel()
	const steps = 14
	of := func(tool, args string, change ...func(*contract.RunPlan)) contract.PlannedCall {
		return plan(tool, args, append(change, class(contract.ClassSafeToRetry, 1))...)
	}
	unreadable := contract.PlannedCall{WireID: "w", Name: "x", Raw: `{"a":`, Problem: &contract.Problem{Kind: contract.ProblemArguments, Text: "not JSON"}}
	poller := func(r *contract.RunPlan) { r.Poller = true }
	var counted atomic.Int64
	tools := map[string]toolFunc{
		"x": echo,
		"fails": func(context.Context, contract.ToolInput) (contract.ToolResult, error) {
			return contract.ToolResult{}, temporal.NewNonRetryableApplicationError("no", contract.ErrToolFailed, errors.New("no"))
		},
		"counts": func(context.Context, contract.ToolInput) (contract.ToolResult, error) {
			return contract.ToolResult{Text: "n", Digest: fmt.Sprint(counted.Add(1))}, nil
		},
	}
	for _, tt := range []struct {
		name   string
		calls  func(step int) []contract.PlannedCall
		warned int // the first step with a warning; 0: none
		ended  int // the step after which it ends; 0: it does not
		why    string
	}{
		{"the same", func(int) []contract.PlannedCall { return []contract.PlannedCall{of("x", `{"a":1}`)} }, 3, 6, "the same call"},
		{"no arguments", func(int) []contract.PlannedCall { return []contract.PlannedCall{of("x", `{}`)} }, 3, 6, "the same call"},
		{"failing", func(int) []contract.PlannedCall { return []contract.PlannedCall{of("fails", `{}`)} }, 3, 6, "the same call"},
		{"unreadable", func(int) []contract.PlannedCall { return []contract.PlannedCall{unreadable} }, 3, 6, "the same call"},
		{"in one answer", func(int) []contract.PlannedCall { return []contract.PlannedCall{of("x", `{}`), of("x", `{}`)} }, 2, 3, "the same call"},
		{"in turns", func(step int) []contract.PlannedCall {
			return []contract.PlannedCall{of("x", fmt.Sprintf(`{"a":%d}`, step%2))}
		}, 6, 12, "the same two calls in turns"},
		{"a pair", func(int) []contract.PlannedCall {
			return []contract.PlannedCall{of("x", `{"a":1}`), of("x", `{"a":2}`)}
		}, 3, 6, "the same two calls in turns"},
		{"other arguments", func(step int) []contract.PlannedCall {
			return []contract.PlannedCall{of("x", fmt.Sprintf(`{"a":%d}`, step))}
		}, 0, 0, ""},
		{"another result", func(int) []contract.PlannedCall { return []contract.PlannedCall{of("counts", `{}`)} }, 0, 0, ""},
		{"a poller", func(int) []contract.PlannedCall { return []contract.PlannedCall{of("x", `{}`, poller)} }, 0, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answers := make([]contract.CallModelResult, 0, steps)
			for step := range steps - 1 {
				answers = append(answers, asks(tt.calls(step)...))
			}
			last := steps
			if tt.ended > 0 {
				answers, last = answers[:tt.ended], tt.ended+1
			}
			answers = append(answers, says("enough"))
			in := contract.TurnInput{Agent: "a", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}}
			got, runs := runChain(t, in, answers, tools)
			in.StepsPerRun = 1 // the counts are carried
			carried, _ := runChain(t, in, answers, tools)
			for _, got := range []contract.TurnResult{got, carried} {
				if got.Steps != last || (got.Status == contract.StatusLimitReached) != (tt.ended > 0) || !strings.HasPrefix(got.Reason, tt.why) {
					t.Errorf("%+v", got)
				}
			}
			warned := 0
			for _, in := range runs[0].inputs {
				for _, e := range in.Entries {
					if e.Note != "" && warned == 0 {
						warned = in.Step - 1
					}
				}
			}
			if warned != tt.warned {
				t.Errorf("the first warning came with step %d, want %d", warned, tt.warned)
			}
		})
	}
}
