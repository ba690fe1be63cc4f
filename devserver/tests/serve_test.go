package tests

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

var (
	agent   = temporal.NewSearchAttributeKeyKeyword("TurnkeelAgent")
	session = temporal.NewSearchAttributeKeyKeyword("TurnkeelSession")
	status  = temporal.NewSearchAttributeKeyKeyword("TurnkeelStatus")
	pending = temporal.NewSearchAttributeKeyInt64("TurnkeelPending")
)

// startOurs starts a workflow that sets all four of our search attributes.
func startOurs(t testing.TB, c sdkclient.Client, id string) error {
	t.Helper()
	_, err := c.ExecuteWorkflow(within(t, 30*time.Second), sdkclient.StartWorkflowOptions{
		ID: id, TaskQueue: taskQueue,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			agent.ValueSet("support"), session.ValueSet("s-1"), status.ValueSet("parked"), pending.ValueSet(2)),
	}, sleeper, time.Hour)
	return err
}

// listOurs lists by all four, so that it fails where one of them is unknown.
func listOurs(t testing.TB, c sdkclient.Client, and string) ([]*workflowpb.WorkflowExecutionInfo, error) {
	t.Helper()
	list, err := c.ListWorkflow(within(t, 30*time.Second), &workflowservice.ListWorkflowExecutionsRequest{
		Query: `TurnkeelAgent = "support" AND TurnkeelSession = "s-1" AND TurnkeelStatus = "parked" AND TurnkeelPending > 1` + and,
	})
	return list.GetExecutions(), err
}

func expectListed(t testing.TB, c sdkclient.Client, id string) {
	t.Helper()
	eventually(t, 20*time.Second, func() error {
		found, err := listOurs(t, c, "")
		if err == nil && (len(found) != 1 || found[0].GetExecution().GetWorkflowId() != id) {
			err = fmt.Errorf("found %v: %w", found, errNotYet)
		}
		return err
	})
}

// The line is printed once everything is there: no retry, no wait between it and the first use.
func TestReadyMeansReady(t *testing.T) {
	t.Parallel()
	p := start(t, newDB(t))
	c := p.client()
	if err := startOurs(t, c, "at-once"); err != nil {
		t.Fatalf("right after the line: %v", err)
	}
	expectListed(t, c, "at-once")
	if p.Namespace != "default" || p.PID != p.cmd.Process.Pid {
		t.Errorf("announced %s, pid %d; the process is %d", p.Namespace, p.PID, p.cmd.Process.Pid)
	}
	if err := exists(p.DB); err != nil {
		t.Error(err)
	}
	for what, url := range map[string]string{
		"the Web UI's page":     p.UI + "/",
		"the Web UI's API":      p.UI + "/api/v1/namespaces/default/workflows",
		"the server's HTTP API": p.HTTP + "/api/v1/namespaces/default/workflows",
	} {
		if body := get(t, url); strings.HasSuffix(url, "workflows") && !strings.Contains(body, "at-once") {
			t.Errorf("%s does not know the workflow: %s", what, body)
		}
	}
	if out := p.output(); len(out) != 1 {
		t.Errorf("%d lines on standard output: %q", len(out), out)
	}
	if said := p.errors(); said != "" {
		t.Errorf("standard error: %s", said)
	}
}

func TestWebUISettings(t *testing.T) {
	t.Parallel()
	p := start(t, newDB(t), "--ui-codec-endpoint", "http://127.0.0.1:9999/codec")
	var settings struct {
		DefaultNamespace string
		Codec            struct{ Endpoint string }
	}
	if err := json.Unmarshal([]byte(get(t, p.UI+"/api/v1/settings")), &settings); err != nil {
		t.Fatal(err)
	}
	if settings.DefaultNamespace != "default" || settings.Codec.Endpoint != "http://127.0.0.1:9999/codec" {
		t.Errorf("the Web UI is set to %+v", settings)
	}
}

// A cluster without ours refuses them, and the same database gets them at a later start, in use at once.
func TestWithoutSearchAttributes(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	p := start(t, db, "--no-search-attributes", "--search-attribute", "Customer=Keyword")
	c := p.client()
	if err := startOurs(t, c, "refused"); err == nil || !strings.Contains(err.Error(), "Turnkeel") {
		t.Errorf("a cluster that lacks ours says %v", err)
	}
	customer := temporal.NewSearchAttributeKeyKeyword("Customer")
	options := sdkclient.StartWorkflowOptions{ID: "of-acme", TaskQueue: taskQueue,
		TypedSearchAttributes: temporal.NewSearchAttributes(customer.ValueSet("acme"))}
	if _, err := c.ExecuteWorkflow(within(t, 30*time.Second), options, sleeper, time.Hour); err != nil {
		t.Errorf("one of the user's own: %v", err)
	}
	p.kill()

	c = start(t, db).client()
	if err := startOurs(t, c, "accepted"); err != nil {
		t.Error(err)
	}
	expectListed(t, c, "accepted")
	eventually(t, 20*time.Second, func() error {
		list, err := c.ListWorkflow(within(t, 10*time.Second), &workflowservice.ListWorkflowExecutionsRequest{Query: `Customer = "acme"`})
		if err == nil && len(list.GetExecutions()) != 1 {
			err = fmt.Errorf("the user's own attribute finds %d workflows", len(list.GetExecutions()))
		}
		return err
	})
}

// Servers that start at the same moment do not take each other's ports.
func TestSeveralAtOnce(t *testing.T) {
	t.Parallel()
	var all []*process
	for range 3 {
		all = append(all, launch(t, "--port", "0", "--db", newDB(t)))
	}
	seen := make(map[string]bool)
	for _, p := range all {
		p.await()
		for _, address := range []string{p.Address, p.UI, p.HTTP} {
			if seen[address] {
				t.Errorf("%s was announced twice", address)
			}
			seen[address] = true
		}
	}
}

func TestDynamicConfigAndRetention(t *testing.T) {
	t.Parallel()
	p := start(t, newDB(t), "--dynamic-config", "limit.historyCount.error=30", "--retention", "48h")
	c := p.client()
	work(t, c)
	err := run(t, c, "too-long", chain, 50).Get(within(t, 30*time.Second), nil)
	if err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("a history over the lowered limit ends with %v", err)
	}
	ns, err := c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: p.Namespace})
	if err != nil {
		t.Fatal(err)
	}
	if kept := ns.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); kept != 48*time.Hour {
		t.Errorf("retention is %s", kept)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	p := launch(t, "--help")
	if code := p.ends(10 * time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	help := p.errors()
	for _, flag := range []string{
		"config", "db", "ip", "port", "ui-port", "ui-codec-endpoint", "log-level", "stock", "dynamic-config",
		"search-attribute", "no-search-attributes", "stdin-lifeline", "retention",
	} {
		if !strings.Contains(help, "  --"+flag+" ") && !strings.Contains(help, "  --"+flag+"\n") {
			t.Errorf("--%s is not explained", flag)
		}
	}
	if strings.Contains(help, "-1") {
		t.Errorf("an inner value shows:\n%s", help)
	}
}

func get(t testing.TB, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(within(t, 20*time.Second), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", url, resp.Status, err, body)
	}
	return string(body)
}

func exists(path string) error { _, err := os.Stat(path); return err }

func size(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
