// Package secrets plants secrets in every variable that an agent declares, has
// its tools fail in every way with them, and looks for them wherever a turn
// leaves something.
package secrets

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdkclient "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/protobuf/proto"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/devproc"
	"github.com/turnkeel/turnkeel/internal/logging"
	"github.com/turnkeel/turnkeel/tests/npm"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// planted are the variables and their secrets: required, optional, bound, of a
// built-in tool, of an MCP server's program, of a header, with white space and
// with what JSON and URLs escape.
var planted = map[string]string{
	"SECRET_REQUIRED": "sk-required-4f1d8a7c", "SECRET_OPTIONAL": "sk-optional-99c2e1b0", "PROD_BOUND": `sk-bound-"<a&b>\77`,
	"SECRET_BUILTIN": "sk-builtin-5d02aa41\n", "SECRET_PROGRAM": "sk-program-0b7e6f35", "SECRET_DSN": "postgres://agent:sk-password-1c9f@db.internal/x",
}

// witness is no secret and must be found wherever secrets are looked for: else
// nothing was looked at.
const witness = "witness-7b41e0"

// open is a value that the file itself gives, and so no secret.
const open = "https://open.example"

type input struct {
	Way  string `json:"way"`
	Note string `json:"note"`
}

// ways are how a tool can let a secret out. Each gets all secrets in one text.
var ways = map[string]func(call *tooldefs.Call, secrets string) (any, error){
	"error": func(_ *tooldefs.Call, s string) (any, error) { return nil, errors.New("refused: " + s) },
	"long_error": func(_ *tooldefs.Call, s string) (any, error) {
		return nil, errors.New(strings.Repeat("x", contract.MaxErrorText-20) + s)
	},
	"wrapped": func(_ *tooldefs.Call, s string) (any, error) { return nil, fmt.Errorf("a: %w", fmt.Errorf("b: %s", s)) },
	"url_error": func(_ *tooldefs.Call, s string) (any, error) {
		return nil, &url.Error{Op: "Get", URL: "https://x/?key=" + url.QueryEscape(s), Err: errors.New(s)}
	},
	"public": func(_ *tooldefs.Call, s string) (any, error) {
		return nil, tooldefs.Public("for all: "+s, errors.New(s))
	},
	"unknown":  func(_ *tooldefs.Call, s string) (any, error) { return nil, tooldefs.Unknown(errors.New(s)) },
	"not_done": func(_ *tooldefs.Call, s string) (any, error) { return nil, tooldefs.NotExecuted(errors.New(s)) },
	"transient": func(_ *tooldefs.Call, s string) (any, error) {
		return nil, tooldefs.Transient(errors.New(s), time.Millisecond)
	},
	"panic":       func(_ *tooldefs.Call, s string) (any, error) { panic(s) },
	"panic_error": func(_ *tooldefs.Call, s string) (any, error) { panic(fmt.Errorf("in a panic: %s", s)) },
	"text":        func(_ *tooldefs.Call, s string) (any, error) { return "the text " + s, nil },
	"json": func(_ *tooldefs.Call, s string) (any, error) {
		return map[string]any{"deep": []any{map[string]string{s: s}}, "n": 7}, nil
	},
	"base64": func(_ *tooldefs.Call, s string) (any, error) {
		return base64.StdEncoding.EncodeToString([]byte(s)), nil
	},
	"large":   func(_ *tooldefs.Call, s string) (any, error) { return strings.Repeat(s+" ", 40_000), nil },
	"invalid": func(_ *tooldefs.Call, s string) (any, error) { return map[string]any{s: make(chan int)}, nil },
	"progress": func(call *tooldefs.Call, s string) (any, error) {
		call.Progress(map[string]string{"at": s})
		time.Sleep(300 * time.Millisecond) // a few heartbeats
		return "shown", nil
	},
	"log": func(call *tooldefs.Call, s string) (any, error) {
		call.Logger().Error("failed with "+s, "secret", s, "error", errors.New(s), "struct", struct{ Key string }{s})
		return "logged", nil
	},
}

// secretsOf are the values as a handler gets them, each by itself in the text.
func secretsOf(call *tooldefs.Call, names ...string) string {
	var all []string
	for _, name := range names {
		all = append(all, call.Env(name))
	}
	return strings.Join(all, " ")
}

func leaks(name string, class tooldefs.Class, env ...string) *tooldefs.Tool {
	spec := tooldefs.Spec[input, any]{
		Name: name, Description: "Lets secrets out.", Class: class, Env: env, MaxAttempts: attempts(class),
		Handler: func(_ context.Context, call *tooldefs.Call, in input) (any, error) {
			return ways[in.Way](call, secretsOf(call, env...))
		},
	}
	if class != tooldefs.SafeToRetry {
		spec.Reconcile = func(_ context.Context, call *tooldefs.Call, _ input) (tooldefs.Reconciled[any], error) {
			return tooldefs.Reconciled[any]{}, errors.New("looked up with " + secretsOf(call, env...))
		}
	}
	return tooldefs.Define(spec)
}

func attempts(class tooldefs.Class) int {
	if class == tooldefs.AtMostOnce {
		return 0
	}
	return 2
}

// Y02, P21: no secret in history, log, error, blob or database, whatever the
// tools do with it.
func TestSecretsStayOut(t *testing.T) {
	for name, value := range planted {
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	log := &lockedBuffer{}
	out := turn(t, dir, log)
	places := map[string][]byte{
		"the history": historyBytes(t, out), "the log": log.bytes(), "the result": fmt.Appendf(nil, "%+v %v", out.Result, out.Err),
		"the transcript": asJSON(t, out.Messages), "the effects": asJSON(t, out.Effects),
	}
	for name, data := range files(t, dir) {
		places[name] = data
	}
	database := false
	for place, data := range places {
		database = database || strings.Contains(place, "server") && bytes.Contains(data, []byte(witness))
	}
	secretsIn(t, places, planted)
	for _, place := range []string{"the history", "the log", "the transcript", "the effects"} {
		if !bytes.Contains(places[place], []byte(witness)) {
			t.Errorf("the witness is not in %s: nothing was looked at", place)
		}
	}
	if !database {
		t.Error("the witness is in no file of the database: nothing was looked at")
	}
	if !bytes.Contains(places["the transcript"], []byte(open)) {
		t.Error("a value that stands in the agent's file was taken out")
	}
	if !bytes.Contains(places["the transcript"], []byte("[SECRET_REQUIRED]")) {
		t.Error("the model is not told which secret stood there")
	}
}

const agentYAML = `model: openai/scripted
endpoint: {base_url: %q}
tools: [leaks, leaks_keyed, leaks_read, dsn, tells]
builtin_tools: [extra]
mcp_servers:
  all: {command: [node, %q], env: {PROGRAMS_KEY: SECRET_PROGRAM}, prefix: all}
env:
  required: [SECRET_REQUIRED, SECRET_DSN, BOUND]
  optional: {SECRET_OPTIONAL: "", OPEN: "` + open + `"}
  bind: {BOUND: PROD_BOUND}
`

// turn runs a turn on a server that keeps its data in dir.
func turn(t *testing.T, dir string, log *lockedBuffer) agenttest.Outcome {
	t.Helper()
	bin, err := devproc.Ensure(t.Context(), devproc.Printer(os.Stderr))
	if err != nil {
		t.Fatal(err)
	}
	server, err := devproc.Start(t.Context(), bin, devproc.Options{Dir: filepath.Join(dir, "server")})
	if err != nil {
		t.Fatal(err)
	}
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: agenttest.Server{Address: server.Address, Namespace: server.Namespace}, NoWorker: true, Script: agenttest.Script{Steps: steps()},
	})
	stop := work(t, b, server, dir, log)
	started, err := b.Turns.Start(t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent: agenttest.AgentName, Messages: []contract.Message{{Role: contract.RoleUser, Content: "go, " + witness}}, Stream: true,
	}})
	if err != nil {
		t.Fatal(err)
	}
	out := b.Wait(started)
	stop()
	if out.Err != nil || len(out.Effects) < 3*len(ways) {
		t.Fatalf("%v, %d effects: %+v", out.Err, len(out.Effects), out.Result)
	}
	if err := server.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	return out
}

// steps call each tool in each way, a step each.
func steps() []agenttest.Step {
	var all []agenttest.Step
	for _, tool := range []string{"leaks", "leaks_keyed", "leaks_read"} {
		for way := range ways {
			all = append(all, agenttest.Step{Calls: []agenttest.ScriptCall{{Name: tool, Args: map[string]any{"way": way, "note": witness}}}})
		}
	}
	for _, name := range []string{"dsn", "extra", "all_get-env"} {
		all = append(all, agenttest.Step{Calls: []agenttest.ScriptCall{{Name: name}}})
	}
	all = append(all, agenttest.Step{Calls: []agenttest.ScriptCall{{Name: "tells"}}})
	return append(all, agenttest.Step{Text: "done"})
}

// work runs a worker on the agent's file.
func work(t *testing.T, b *agenttest.Bench, server *devproc.Server, dir string, log *lockedBuffer) (stop func()) {
	t.Helper()
	agent := filepath.Join(dir, "agents", agenttest.AgentName)
	if err := os.MkdirAll(agent, 0o700); err != nil {
		t.Fatal(err)
	}
	everything := npm.Module(t, "@modelcontextprotocol/server-everything/dist/index.js")
	text := fmt.Sprintf(agentYAML, b.Model.URL(), everything) + "limits: {max_steps: 200}\n"
	if err := os.WriteFile(filepath.Join(agent, "agent.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	blobs := blob.Folder(filepath.Join(dir, "blobs"))
	logger := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), log, zap.DebugLevel), zap.AddStacktrace(zap.ErrorLevel))
	host, err := turnkeel.Open(t.Context(), turnkeel.Options{
		AgentsDir: filepath.Join(dir, "agents"), Logger: logger, Blobs: blobs, Tools: tools(), Builtins: []tooldefs.Builtin{builtin()},
	})
	if err != nil {
		t.Fatal(err)
	}
	logger.Info("it begins", zap.String("witness", witness))
	client, err := sdkclient.Dial(sdkclient.Options{HostPort: server.Address, Namespace: server.Namespace, Logger: logging.Temporal(logger)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	var options sdkworker.Options
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(client, b.Queue, options)
	host.Register(worker)
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		worker.Stop()
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	}
}

func tools() []*tooldefs.Tool {
	return []*tooldefs.Tool{
		leaks("leaks", tooldefs.AtMostOnce, "SECRET_REQUIRED", "SECRET_OPTIONAL", "BOUND"),
		leaks("leaks_keyed", tooldefs.Keyed, "SECRET_REQUIRED", "SECRET_OPTIONAL", "BOUND"),
		leaks("leaks_read", tooldefs.SafeToRetry, "SECRET_REQUIRED", "SECRET_OPTIONAL", "BOUND"),
		tooldefs.Define(tooldefs.Spec[struct{}, string]{
			Name: "dsn", Description: "Connects.", Env: []string{"SECRET_DSN"},
			Handler: func(_ context.Context, call *tooldefs.Call, _ struct{}) (string, error) {
				u, err := url.Parse(call.Env("SECRET_DSN"))
				if err != nil {
					return "", err
				}
				password, _ := u.User.Password()
				return "", fmt.Errorf("password %s of %s refused", password, u)
			},
		}),
		tooldefs.Define(tooldefs.Spec[struct{}, string]{
			Name: "tells", Description: "Tells what is open.", Env: []string{"OPEN"},
			Handler: func(_ context.Context, call *tooldefs.Call, _ struct{}) (string, error) { return call.Env("OPEN"), nil },
		}),
	}
}

func builtin() tooldefs.Builtin {
	return tooldefs.Builtin{
		Name: "extra", Env: []string{"SECRET_BUILTIN"},
		New: func(d tooldefs.BuiltinDeps) ([]*tooldefs.Tool, error) {
			d.Logger.Info("made with " + os.Getenv("SECRET_BUILTIN"))
			return []*tooldefs.Tool{tooldefs.Define(tooldefs.Spec[struct{}, string]{
				Name: "extra", Description: "A built-in tool.", Env: []string{"SECRET_BUILTIN"},
				Handler: func(_ context.Context, call *tooldefs.Call, _ struct{}) (string, error) {
					return "", fmt.Errorf("header %q is not valid", "Bearer "+strings.TrimSpace(call.Env("SECRET_BUILTIN")))
				},
			})}, nil
		},
	}
}

func historyBytes(t *testing.T, out agenttest.Outcome) []byte {
	t.Helper()
	data, err := proto.Marshal(out.History)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// files are all that lie under dir, but the agents'.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(path, filepath.Join(dir, "agents")) {
			return err
		}
		found[path], err = os.ReadFile(path) //nolint:gosec // the test's own
		return err
	})
	if err != nil || len(found) < 2 {
		t.Fatalf("files of the server and the blobs: %v, %v", found, err)
	}
	return found
}
