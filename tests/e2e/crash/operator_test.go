package crash

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/toolbin"
)

// operator is a person with the temporal command line.
type operator struct {
	cli   string
	scene *agenttest.CrashScene
}

// do runs a command. What it finds gone is no fault: turns go on meanwhile.
func (o operator) do(ctx context.Context, args ...string) (ok bool) {
	args = append(args, "--address", server.Address, "--namespace", server.Namespace)
	out, err := exec.CommandContext(ctx, o.cli, args...).CombinedOutput() //nolint:gosec // the pinned CLI
	if err != nil {
		fmt.Printf("temporal %q: %v: %s\n", args, err, out)
	}
	return err == nil
}

// running finds a call of the tool that a worker has begun.
func (o operator) running(ctx context.Context, tool string) (turn, activity string, err error) {
	err = until(ctx, func() (bool, error) {
		for _, id := range o.scene.Open() {
			described, err := o.scene.Temporal.DescribeWorkflowExecution(ctx, id, "")
			if err != nil {
				continue // not there yet
			}
			for _, p := range described.GetPendingActivities() {
				if p.GetActivityType().GetName() == contract.ToolActivity(tool) && p.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED {
					turn, activity = id, p.GetActivityId()
					return true, nil
				}
			}
		}
		return false, nil
	})
	return turn, activity, err
}

// An operator pauses, fails and unpauses calls, resets calls, and resets turns
// twice, with the temporal command line, while workers are killed.
func TestOperator(t *testing.T) {
	t.Parallel()
	cli, err := toolbin.TemporalCLI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]int{}
	run(t, agenttest.CrashOptions{
		Workers: 2, Turns: 6, Script: script(mail, pay),
		Disaster: func(ctx context.Context, scene *agenttest.CrashScene) error {
			o := operator{cli, scene}
			for _, tool := range []string{mail, pay, note, order, read} {
				for _, act := range []func(context.Context, operator, string, map[string]int) error{pausing, failing, resetting, resettingTurn} {
					if err := act(ctx, o, tool, done); err != nil {
						return err
					}
				}
			}
			return nil
		},
	})
	for _, what := range []string{"pause", "unpause", "fail", "reset", "reset turn"} {
		if done[what] == 0 {
			t.Errorf("no %s came in time: %v", what, done)
		}
	}
	t.Log(done)
}

func count(done map[string]int, what string, ok bool) {
	if ok {
		done[what]++
	}
}

func pausing(ctx context.Context, o operator, tool string, done map[string]int) error {
	turn, activity, err := o.running(ctx, tool)
	if err != nil {
		return err
	}
	call := []string{"--workflow-id", turn, "--activity-id", activity}
	count(done, "pause", o.do(ctx, append([]string{"activity", "pause"}, call...)...))
	if err := o.scene.KillWorker(turn); err != nil { // so that the pause matters
		return err
	}
	count(done, "unpause", o.do(ctx, append([]string{"activity", "unpause", "--reset-attempts"}, call...)...))
	return nil
}

func failing(ctx context.Context, o operator, tool string, done map[string]int) error {
	turn, activity, err := o.running(ctx, tool)
	if err != nil {
		return err
	}
	count(done, "fail", o.do(ctx, "activity", "fail", "--workflow-id", turn, "--activity-id", activity, "--reason", "the operator says so"))
	return nil
}

func resetting(ctx context.Context, o operator, tool string, done map[string]int) error {
	turn, activity, err := o.running(ctx, tool)
	if err != nil {
		return err
	}
	count(done, "reset", o.do(ctx, "activity", "reset", "--reset-heartbeats", "--workflow-id", turn, "--activity-id", activity))
	return nil
}

// resettingTurn resets a turn while a call runs, and the new run again.
func resettingTurn(ctx context.Context, o operator, tool string, done map[string]int) error {
	turn, _, err := o.running(ctx, tool)
	if err != nil {
		return err
	}
	first := o.do(ctx, "workflow", "reset", "--workflow-id", turn, "--type", "FirstWorkflowTask", "--reason", "test")
	last := o.do(ctx, "workflow", "reset", "--workflow-id", turn, "--type", "LastWorkflowTask", "--reason", "test")
	count(done, "reset turn", first && last)
	if ctx.Err() != nil {
		return errors.New("the test is over")
	}
	return nil
}
