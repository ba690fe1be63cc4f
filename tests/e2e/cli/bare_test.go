package cli

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	sdkworker "go.temporal.io/sdk/worker"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// bareServer has a namespace without our search attributes.
func bareServer(t *testing.T) agenttest.Server {
	t.Helper()
	bare := server
	bare.Namespace = "bare-" + strings.ToLower(strings.ReplaceAll(t.Name(), "_", "-"))
	client := server.Dial(t).WorkflowService()
	_, err := client.RegisterNamespace(t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: bare.Namespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	var missing *serviceerror.NamespaceNotFound
	for err == nil && t.Context().Err() == nil { // the server's parts learn of it one by one
		_, err = client.ListWorkflowExecutions(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: bare.Namespace})
		if err == nil {
			return bare
		}
		if errors.As(err, &missing) {
			err = nil
		}
	}
	t.Fatalf("a namespace without search attributes: %v", err)
	return bare
}

// watchedWorker serves an agent without tools; what it logs is kept.
func watchedWorker(t *testing.T, b *agenttest.Bench, queue string) *observer.ObservedLogs {
	t.Helper()
	core, logs := observer.New(zap.WarnLevel)
	served := sdkworker.New(b.Temporal, queue, sdkworker.Options{})
	err := turnkeel.Register(served, turnkeel.Options{Logger: zap.New(core), Agents: []contract.Agent{{
		Name: "plain", Model: "openai/scripted", Endpoint: contract.Endpoint{BaseURL: b.Model.URL()},
	}}})
	if err == nil {
		err = served.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Stop)
	return logs
}

// R13: where the cluster lacks our search attributes everything works, a start,
// a question, its answer and a session; what is missing is said once, and
// setup adds it.
func TestBareNamespace(t *testing.T) {
	t.Parallel()
	bare := bareServer(t)
	b := gatedBenchOn(t, bare, 1)
	run := func(args ...string) result {
		t.Helper()
		return finish(t, command(t, t.TempDir(), starter, append(onServer(), "TEMPORAL_NAMESPACE="+bare.Namespace, "TURNKEEL_USER=ann"), args...))
	}
	const hint = "lacks the search attributes TurnkeelAgent, TurnkeelPending, TurnkeelSession, TurnkeelStatus"
	turn := "bare-" + b.Queue
	r := run("run", "--agent", agenttest.AgentName, "--task-queue", b.Queue, "--turn-id", turn, "--no-wait", "pay")
	if r.code != 4 || strings.Count(r.errOut, hint) != 1 {
		t.Fatalf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
	}
	for t.Context().Err() == nil && !strings.Contains(r.out, turn+" · call 1") { // listed with a delay
		r = run("pending")
	}
	if r := run("deny", turn, "--yes"); r.code != 0 {
		t.Errorf("exit code %d: %s", r.code, r.errOut)
	}
	if out := b.Wait(b.Turns.Turn(t.Context(), turn, "")); out.Err != nil {
		t.Error(out.Err)
	}
	if r := run("send", turn+"-s", "--agent", agenttest.AgentName, "--task-queue", b.Queue, "--detach", "hello"); r.code != 0 || strings.Count(r.errOut, hint) != 1 {
		t.Errorf("a session: exit code %d: %s", r.code, r.errOut)
	}
	queue := b.Queue + "-2"
	said := watchedWorker(t, b, queue)
	for range 2 {
		if r := run("run", "--agent", "plain", "--task-queue", queue, "hello"); r.code != 0 {
			t.Errorf("exit code %d: %s", r.code, r.errOut)
		}
	}
	if n := said.FilterMessageSnippet("lacks search attributes").Len(); n != 1 {
		t.Errorf("the worker said %d times what is missing: %v", n, said.All())
	}
	if r := run("setup", "--dry-run"); r.code != 0 || !strings.Contains(r.out, "temporal operator search-attribute create --namespace "+bare.Namespace) {
		t.Errorf("dry run: exit code %d: %s%s", r.code, r.out, r.errOut)
	}
	if r := run("setup"); r.code != 0 || !strings.Contains(r.out, "added: TurnkeelAgent") {
		t.Errorf("setup: exit code %d: %s%s", r.code, r.out, r.errOut)
	}
	for t.Context().Err() == nil {
		if r = run("setup"); strings.Contains(r.out, "nothing is missing") {
			break
		}
	}
	if r := run("list"); strings.Contains(r.errOut, "lacks") {
		t.Errorf("it still lacks them: %s", r.errOut)
	}
}
