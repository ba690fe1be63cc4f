package crash

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/toolbin"
)

// operator is a person with the temporal command line.
type operator struct {
	cli   string
	scene *agenttest.CrashScene
	done  map[string]int // how often each came in time
}

func (o operator) count(what string, ok bool) {
	if ok {
		o.done[what]++
	}
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
			described, err := o.scene.Temporal.DescribeWorkflow(ctx, id, "")
			if err != nil {
				continue // not there yet
			}
			for _, p := range described.RawResponse.GetPendingActivities() {
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

// An operator pauses a call, loses its worker and unpauses it; fails a call;
// resets one while its worker still runs it; and resets a turn, and the new run
// again, while calls run: with the temporal command line, for a tool of each
// class with effects.
func TestOperator(t *testing.T) {
	t.Parallel()
	cli, err := toolbin.TemporalCLI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]int{}
	run(t, newLedger(t, slow), agenttest.CrashOptions{
		Workers: 2, Turns: 6, Script: script(mail, pay),
		Disaster: func(ctx context.Context, scene *agenttest.CrashScene) error {
			o := operator{cli, scene, done}
			for _, tool := range []string{mail, pay, note, order} {
				for _, act := range []func(context.Context, string) error{o.pause, o.fail, o.reset, o.resetTurn} {
					if err := act(ctx, tool); err != nil {
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

func (o operator) pause(ctx context.Context, tool string) error {
	turn, activity, err := o.running(ctx, tool)
	if err != nil {
		return err
	}
	call := []string{"--workflow-id", turn, "--activity-id", activity}
	o.count("pause", o.do(ctx, append([]string{"activity", "pause"}, call...)...))
	if err := o.scene.KillWorker(turn); err != nil {
		return err
	}
	select {
	case <-time.After(4 * time.Second): // the pause itself: longer than a heartbeat timeout, which it holds back
	case <-ctx.Done():
	}
	o.count("unpause", o.do(ctx, append([]string{"activity", "unpause", "--reset-attempts"}, call...)...))
	return nil
}

func (o operator) fail(ctx context.Context, tool string) error {
	turn, activity, err := o.running(ctx, tool)
	if err == nil {
		o.count("fail", o.do(ctx, "activity", "fail", "--workflow-id", turn, "--activity-id", activity, "--reason", "the operator says so"))
	}
	return err
}

func (o operator) reset(ctx context.Context, tool string) error {
	turn, activity, err := o.running(ctx, tool)
	if err == nil {
		o.count("reset", o.do(ctx, "activity", "reset", "--reset-heartbeats", "--workflow-id", turn, "--activity-id", activity))
	}
	return err
}

// resetTurn resets a turn to its beginning while a call runs, and the new run
// to its end.
func (o operator) resetTurn(ctx context.Context, tool string) error {
	turn, _, err := o.running(ctx, tool)
	if err != nil {
		return err
	}
	first := o.do(ctx, "workflow", "reset", "--workflow-id", turn, "--type", "FirstWorkflowTask", "--reason", "test")
	last := o.do(ctx, "workflow", "reset", "--workflow-id", turn, "--type", "LastWorkflowTask", "--reason", "test")
	o.count("reset turn", first && last)
	return ctx.Err()
}
