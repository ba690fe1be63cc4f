package secrets

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"

	"github.com/turnkeel/turnkeel/internal/devproc"
	"github.com/turnkeel/turnkeel/internal/logging"
	"github.com/turnkeel/turnkeel/tests/postgres"
	"github.com/turnkeel/turnkeel/tests/s3"
)

// stock is what a stock worker runs in: real servers, and in its environment
// real secrets.
type stock struct {
	t      *testing.T
	dir    string
	server *devproc.Server
	client sdkclient.Client
	blobs  s3.Server
	env    map[string]string // what worker and starter are given
	secret map[string]string // of these, what must appear nowhere
	said   map[string][]byte // by the programs, each under a name
}

// PostgreSQL's password has what URLs and JSON escape.
const pgPassword = `Pg"s3cr3t/&<7>@x`

// pieces of passwords that are not escaped: a driver's error would quote them.
var pieces = map[string]string{
	"the password of SQL_GOOD": pgPassword, "the password of SQL_UNPARSED": "pw-un%parsed-8a1d30", "the password of SQL_PORT": "pw-port-91ce02",
	"the host of SQL_SLASH": "pw-left", "the database of SQL_SLASH": "pw-right-402e", "the port of SQL_HASH": "pw-hash", "the fragment of SQL_HASH": "7f31aa0c",
}

// newStock starts the servers. The agents ask a database each: one that is
// there, one that is not, and what is not one.
func newStock(t *testing.T, scenarios map[string][]reply) *stock {
	t.Helper()
	bin, err := devproc.Ensure(t.Context(), devproc.Printer(os.Stderr))
	if err != nil {
		t.Fatal(err)
	}
	s := &stock{t: t, dir: t.TempDir(), said: map[string][]byte{}}
	if s.server, err = devproc.Start(t.Context(), bin, devproc.Options{Dir: filepath.Join(s.dir, "server")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.server.Stop(context.Background()) })
	if s.client, err = sdkclient.Dial(sdkclient.Options{HostPort: s.server.Address, Logger: logging.Temporal(zap.NewNop())}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.client.Close)
	database, err := postgres.Start(pgPassword)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	s.blobs = s3.Start(t)
	address := func(password, rest string) string { return "postgres://postgres:" + password + "@" + rest }
	const escaped = "Pg%22s3cr3t%2F%26%3C7%3E%40x"
	s.secret = map[string]string{
		"MODEL_KEY": "sk-model-41d7a90c55", "OPENAI_API_KEY": "sk-usual-c07d115e93", "TAVILY_API_KEY": "tvly-key-99b3f7d21e",
		"OWN_SECRET": `own-"<t>&oken\7-31aa`, "FAR_TOKEN": "Bearer far-token-7d20be11",
		"SQL_GOOD":     address(escaped, database.Address+"/postgres"),
		"SQL_DOWN":     address("pw-down-5e1c77", "127.0.0.1:1/x"),
		"SQL_WRONG":    address("pw-wrong-20fd61", database.Address+"/postgres"),
		"SQL_UNPARSED": address("pw-un%parsed-8a1d30", database.Address+"/postgres"),
		"SQL_PORT":     address("pw-port-91ce02", "127.0.0.1:99999/x"),
		"SQL_SLASH":    address("pw-left@5518/pw-right-402e", database.Address+"/postgres"),
		"SQL_HASH":     address("pw-hash#77/7f31aa0c", database.Address+"/postgres"),

		"AWS_SECRET_ACCESS_KEY": s.blobs.SecretKey, "AWS_SESSION_TOKEN": "FwoG-session-token-3c9a7e", "TEMPORAL_API_KEY": "temporal-key-5db1f4c8",
	}
	model := modelEndpoint(t, scenarios)
	s.env = maps.Clone(s.secret)
	delete(s.env, "AWS_SESSION_TOKEN") // one worker has it
	maps.Copy(s.env, map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": s.dir, "TEMPORAL_ADDRESS": s.server.Address, "TEMPORAL_TLS": "false",
		"OPENAI_BASE_URL": model, "TAVILY_BASE_URL": tavily(t),
	})
	for _, line := range s.blobs.Env("secrets") {
		name, value, _ := strings.Cut(line, "=")
		s.env[name] = value
	}
	s.writeAgents(model, farServer(t, s.secret["FAR_TOKEN"]))
	return s
}

func (s *stock) writeAgents(model, far string) {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	head := fmt.Sprintf("model: openai/x\nendpoint: {base_url: %q, api_key_env: MODEL_KEY}\nlimits: {max_steps: 100}\n", model)
	files := map[string]string{
		"usual": "model: openai/x\n",
		"leaky": head + fmt.Sprintf(`builtin_tools: [web_search]
mcp_servers:
  own: {command: [%q, %s], env: {%s: OWN_SECRET}, prefix: own, tools: {slow: {timeout: 500ms}}}
  far: {url: %q, headers_env: {Authorization: FAR_TOKEN}, prefix: far, idempotency: safe_to_retry}
policy: {rules: [{id: ask, when: {tools: [own_asks]}, then: require_approval}]}
`, self, leakyServer, leakyToken, far),
	}
	for _, name := range []string{"good", "down", "wrong", "unparsed", "port", "slash", "hash"} {
		files["sql_"+name] = head + "builtin_tools: [sql_query]\nenv: {bind: {SQL_DATABASE_URL: SQL_" + strings.ToUpper(name) + "}}\n"
	}
	for name, text := range files {
		dir := filepath.Join(s.dir, "work", "agents", name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *stock) command(ctx context.Context, bin string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, bin, args...) //nolint:gosec // our own
	cmd.Dir = filepath.Join(s.dir, "work")
	for name, value := range s.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// starter runs a command of the starter's and keeps what it says.
func (s *stock) starter(args ...string) (out string, code int) {
	s.t.Helper()
	cmd := s.command(s.t.Context(), starter, args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	s.said["starter "+strings.Join(args, " ")] = []byte(stdout.String() + stderr.String())
	return stdout.String(), cmd.ProcessState.ExitCode()
}

// process is a worker that logs into said; at a terminal for people, else JSON.
type process struct {
	cmd  *exec.Cmd
	log  *lockedBuffer
	read chan struct{} // closed when its log is complete
}

func (s *stock) worker(terminal bool, changes ...string) *process {
	s.t.Helper()
	p := &process{cmd: s.command(context.Background(), worker), log: &lockedBuffer{}, read: make(chan struct{})}
	p.cmd.Env = append(p.cmd.Env, changes...)
	screen, end, err := os.Pipe()
	if terminal {
		screen, end, err = pty.Open()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = end, end
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	_ = end.Close()
	go func() {
		_, _ = io.Copy(p.log, screen) // a terminal ends with an error
		_ = screen.Close()
		close(p.read)
	}()
	s.t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	s.until("the worker serves: "+string(p.log.bytes()), func() bool { return strings.Contains(string(p.log.bytes()), "worker serves turns") })
	return p
}

// end signals the worker, waits for it and keeps its log.
func (s *stock) end(name string, p *process, signal syscall.Signal) {
	s.t.Helper()
	_ = p.cmd.Process.Signal(signal)
	_ = p.cmd.Wait()
	<-p.read
	s.said[name] = p.log.bytes()
}

// until waits for what another process brings about.
func (s *stock) until(what string, ok func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			s.t.Fatalf("it never came to be that %s", what)
		}
		time.Sleep(20 * time.Millisecond) // another process says nothing that could be waited for
	}
}

// hangs says that a call of the turn shows its progress.
func (s *stock) hangs(turn string) bool {
	described, err := s.client.DescribeWorkflow(s.t.Context(), turn, "")
	if err != nil {
		return false // it has not been started yet
	}
	for _, a := range described.RawResponse.GetPendingActivities() {
		for _, payload := range a.GetHeartbeatDetails().GetPayloads() {
			if bytes.Contains(payload.GetData(), []byte(witness)) {
				return true
			}
		}
	}
	return false
}

// recorded is all that the server tells of all runs: histories, memos, search
// attributes, metadata.
func (s *stock) recorded() []byte {
	s.t.Helper()
	ctx, client := s.t.Context(), s.client
	var all []byte
	keep := func(m proto.Message, err error) {
		var data []byte
		if err == nil {
			data, err = proto.Marshal(m)
		}
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, data...)
	}
	runs, err := client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000})
	keep(runs, err)
	for _, run := range runs.GetExecutions() {
		id, runID := run.GetExecution().GetWorkflowId(), run.GetExecution().GetRunId()
		described, err := client.DescribeWorkflow(ctx, id, runID)
		keep(described.RawResponse, err)
		for events := client.GetWorkflowHistory(ctx, id, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
			event, err := events.Next()
			keep(event, err)
		}
	}
	return all
}

// filesBelow are all files of a folder.
func (s *stock) filesBelow(dir string) map[string][]byte {
	s.t.Helper()
	found := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		found[path], err = os.ReadFile(path) //nolint:gosec // the test's own
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// sorted are the names of scenarios, so that a test runs the same each time.
func sorted(scenarios map[string][]reply) []string { return slices.Sorted(maps.Keys(scenarios)) }
