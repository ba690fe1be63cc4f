package people

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// C06, R41: whoever cancels or interrupts a turn reaches the tool that runs,
// and its child process ends; the call is recorded as interrupted, which is not
// "not executed". A tool that does not listen is not waited for.
func TestCancel_ReachesATool(t *testing.T) {
	t.Parallel()
	for _, deaf := range []bool{false, true} {
		for name, end := range endings() {
			if deaf {
				name += ", deaf"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				release := make(chan struct{})
				t.Cleanup(func() { close(release) })
				started, child, heard := make(chan struct{}), make(chan error, 1), make(chan time.Time, 1)
				shell := tooldefs.Define(tooldefs.Spec[payInput, string]{
					Name: "shell", Description: "Runs for ten minutes.", Timeout: 20 * time.Minute,
					Handler: func(ctx context.Context, _ *tooldefs.Call, _ payInput) (string, error) {
						close(started)
						if deaf {
							<-release
							return "", nil
						}
						context.AfterFunc(ctx, func() { heard <- time.Now() })
						err := exec.CommandContext(ctx, "sleep", "600").Run()
						child <- err
						return "", err
					},
				})
				b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: []*tooldefs.Tool{shell}, Script: agenttest.Script{
					Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{{Name: "shell", Args: map[string]any{"cents": 1}}}}, {Text: "never"}},
				}})
				turn := b.Start("go")
				<-started
				at := time.Now()
				want := end(t, b, turn.ID)
				out := b.Wait(turn)
				if out.Result.Status != want || out.Effects[0].Outcome != contract.OutcomeInterrupted || !strings.Contains(out.Effects[0].Text, "may have taken effect") {
					t.Errorf("%+v, want %s; %+v", out.Result, want, out.Effects)
				}
				if deaf {
					return
				}
				var killed *exec.ExitError
				if err := <-child; !errors.As(err, &killed) || killed.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Errorf("the child process: %v", err)
				}
				t.Logf("it was heard after %s", (<-heard).Sub(at).Round(time.Millisecond))
			})
		}
	}
}

// C06, R41: it reaches a model call too, and closes its connection.
func TestCancel_ReachesTheModel(t *testing.T) {
	t.Parallel()
	for name, end := range endings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var once sync.Once
			asked, closed := make(chan struct{}), make(chan time.Time, 1)
			b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Script: agenttest.Script{
				Hook: func(ctx context.Context, _ agenttest.ModelRequest) *agenttest.Step {
					once.Do(func() { close(asked) })
					<-ctx.Done()
					closed <- time.Now()
					return &agenttest.Step{Text: "nobody reads this"}
				},
			}})
			turn := b.Start("go")
			<-asked
			at := time.Now()
			want := end(t, b, turn.ID)
			if out := b.Wait(turn); out.Result.Status != want {
				t.Errorf("%+v, want %s", out.Result, want)
			}
			t.Logf("its connection was closed after %s", (<-closed).Sub(at).Round(time.Millisecond))
			if n := len(b.Model.Requests()); n != 1 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

// endings are the two ways to stop a turn, each with the status it leads to.
func endings() map[string]func(*testing.T, *agenttest.Bench, string) contract.Status {
	return map[string]func(*testing.T, *agenttest.Bench, string) contract.Status{
		"cancel": func(t *testing.T, b *agenttest.Bench, turn string) contract.Status {
			t.Helper()
			if err := b.Turns.Cancel(t.Context(), turn); err != nil {
				t.Fatal(err)
			}
			return contract.StatusCanceled
		},
		"interrupt": func(t *testing.T, b *agenttest.Bench, turn string) contract.Status {
			t.Helper()
			if err := b.Turns.Interrupt(t.Context(), turn, contract.InterruptRequest{By: "ann"}); err != nil {
				t.Fatal(err)
			}
			return contract.StatusInterrupted
		},
	}
}
