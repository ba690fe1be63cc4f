// Package deploy runs deploys on a real Temporal server: workers are processes
// built on turnkeel.Main, of two builds, and are moved with the temporal
// command line and asked with their command replay.
package deploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/toolbin"
	"github.com/turnkeel/turnkeel/tooldefs"
	"github.com/turnkeel/turnkeel/workflows"
)

// The first of these variables makes the test binary a worker built on
// turnkeel.Main.
const (
	codeEnv   = "TURNKEEL_TEST_CODE" // which code: old, new (another own workflow) or untipped (a tool less)
	modelEnv  = "TURNKEEL_TEST_MODEL"
	zippedEnv = "TURNKEEL_TEST_ZIPPED" // if set, the worker encodes its payloads
)

// orderType is the workflow that the worker has beside Turnkeel's.
const orderType = "shop.Order"

var (
	server   agenttest.Server
	temporal string // the command line
	starter  string
)

func TestMain(m *testing.M) {
	if code := os.Getenv(codeEnv); code != "" {
		turnkeel.Main(workerOptions(code))
	}
	os.Exit(run(m))
}

// workerOptions are the worker's of that code, as a user would write them.
func workerOptions(code string) turnkeel.Options {
	build := os.Getenv("TURNKEEL_BUILD_ID")
	pay := func(name string, approval any, parallel func(string) bool) *tooldefs.Tool {
		return tooldefs.Define(tooldefs.Spec[payInput, string]{
			Name: name, Description: "Pays.", Approval: approval, ParallelSafe: parallel,
			Handler: func(context.Context, *tooldefs.Call, payInput) (string, error) { return "paid by build " + build, nil },
		})
	}
	var encoding converter.DataConverter
	if os.Getenv(zippedEnv) != "" {
		encoding = zipped()
	}
	tools := []*tooldefs.Tool{pay("pay", tooldefs.Always, nil), pay("tip", nil, tooldefs.Always)}
	if code == "untipped" {
		tools = tools[:1]
	}
	return turnkeel.Options{
		DataConverter: encoding,
		Tools:         tools,
		Agents: []contract.Agent{{
			Name: agenttest.AgentName, Model: "openai/scripted", Tools: []string{"all"},
			Endpoint: contract.Endpoint{BaseURL: os.Getenv(modelEnv)},
		}},
		Register: func(r turnkeel.Registry) {
			order := oldOrder
			if code == "new" {
				order = newOrder
			}
			r.RegisterWorkflowWithOptions(order, workflow.RegisterOptions{Name: orderType})
		},
	}
}

type payInput struct {
	Cents int `json:"cents"`
}

// oldOrder pays, which waits for a person.
func oldOrder(ctx workflow.Context, cents int) (string, error) {
	tools, err := orderTools(ctx)
	if err != nil {
		return "", err
	}
	return callFor(ctx, tools, "pay", cents)
}

// newOrder tips first, without asking which code a run began on: a deploy of it
// breaks orders in flight.
func newOrder(ctx workflow.Context, cents int) (string, error) {
	tools, err := orderTools(ctx)
	if err != nil {
		return "", err
	}
	if _, err := callFor(ctx, tools, "tip", 1); err != nil {
		return "", err
	}
	return callFor(ctx, tools, "pay", cents)
}

// orderTools are the order's, with a query for what it waits for.
func orderTools(ctx workflow.Context) (*workflows.Tools, error) {
	tools, err := workflows.NewTools(ctx, workflows.ToolsOptions{Agent: agenttest.AgentName})
	if err != nil {
		return nil, err
	}
	return tools, workflow.SetQueryHandler(ctx, contract.QueryStatus, func() (contract.StatusReply, error) {
		return contract.StatusReply{Pending: tools.Pending()}, nil
	})
}

func callFor(ctx workflow.Context, tools *workflows.Tools, name string, cents int) (string, error) {
	value, err := tools.Call(ctx, name, payInput{cents})
	if err != nil {
		return "", err
	}
	var said string
	return said, value.Get(&said)
}

func run(m *testing.M) int {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "turnkeel-deploy")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	starter = filepath.Join(dir, "starter")
	build := exec.CommandContext(ctx, "go", "build", "-o", starter, "./starter") //nolint:gosec // our own
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		return fail(fmt.Errorf("build the starter: %w\n%s", err, out))
	}
	if temporal, err = toolbin.TemporalCLI(ctx); err != nil {
		return fail(err)
	}
	var stop func()
	if server, stop, err = agenttest.MainServer(ctx); err != nil {
		return fail(err)
	}
	defer stop()
	return m.Run()
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// environment is a process's: of the server, without what would lead it
// elsewhere, and more.
func environment(more ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "OPENAI_") && !strings.HasPrefix(v, "TEMPORAL_") && !strings.HasPrefix(v, "TURNKEEL_") {
			env = append(env, v)
		}
	}
	return append(append(env, "TEMPORAL_ADDRESS="+server.Address, "TEMPORAL_NAMESPACE="+server.Namespace, "TURNKEEL_BLOBS=none"), more...)
}

// result is a finished command.
type result struct {
	out, errOut string
	code        int
}

// command runs a program to its end.
func command(t *testing.T, env []string, bin string, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), bin, args...) //nolint:gosec // a test's own
	cmd.Env = environment(env...)
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v\n%s", cmd, err, errOut.String())
	}
	return result{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// cli runs the temporal command line, which must succeed.
func cli(t *testing.T, args ...string) string {
	t.Helper()
	r := command(t, nil, temporal, args...)
	if r.code != 0 {
		t.Fatalf("temporal %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.errOut)
	}
	return r.out
}

// until polls a condition, which says what it saw. It gives up long after any
// machine has come that far, so that a failure names what never happened.
func until(t *testing.T, what string, met func() (bool, string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	for {
		ok, saw := met()
		if ok {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: never; last seen: %s", what, saw)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// workerBinary is this test, which is a worker when it is told so.
func workerBinary() string { return os.Args[0] }

func contains(text string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
