package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/internal/toolbin"
)

const planted = "sk-planted-7f3a9c" // the worker's OPENAI_API_KEY

// secretWorker serves the stock agents with a key that no input may hold.
func secretWorker(t *testing.T, queue string) *agenttest.ModelServer {
	t.Helper()
	model, err := agenttest.NewModelServer(agenttest.Script{Steps: []agenttest.Step{{Text: "Good evening."}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	startStock(t, queue, "OPENAI_API_KEY="+planted, "OPENAI_BASE_URL="+model.URL())
	return model
}

// R12: whoever has a declared variable's value in the environment cannot send
// it: the usual key of a provider, or what the agents of the folder declare.
func TestSecret_RefusedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	agent, broken := filepath.Join(dir, "agents", "desk"), filepath.Join(dir, "agents", "broken")
	for _, folder := range []string{agent, broken} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	yaml := "model: openai/x\nendpoint: {base_url: http://127.0.0.1:1, api_key_env: DESK_KEY}\n" +
		"env: {required: [TICKETS_KEY], optional: {TICKETS_URL: https://tickets.example}, bind: {TICKETS_KEY: PROD_TICKETS_KEY}}\n" +
		"builtin_tools: [web_search]\n"
	wrong := "modell: openai/x\nbuiltin_tools: [sql_query]\n"
	for name, text := range map[string]string{
		filepath.Join(agent, "agent.yaml"): yaml, filepath.Join(agent, "instructions.md"): "Help.", filepath.Join(broken, "agent.yaml"): wrong,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, variable, value, text string
		code                        int
	}{
		{"a provider's key", "GROQ_API_KEY", planted, "use " + planted + ", please", 2},
		{"an endpoint's key", "DESK_KEY", planted, planted, 2},
		{"bound", "PROD_TICKETS_KEY", planted, "(" + planted + ")", 2},
		{"the cluster's key", "TEMPORAL_API_KEY", planted, "with " + planted, 2},
		{"the bucket's key", "AWS_SECRET_ACCESS_KEY", planted, "with " + planted, 2},
		{"too short to tell", "DESK_KEY", "ollama7", "ollama7", 0},
		{"the declared name is bound elsewhere", "TICKETS_KEY", planted, planted, 0},
		{"a built-in tool's", "TAVILY_API_KEY", planted, "search with " + planted, 2},
		{"beside a broken file", "SQL_DATABASE_URL", "sqlite:" + planted, "ask sqlite:" + planted, 2},
		{"a default is no secret", "OTHER", planted, "see https://tickets.example", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			env := append(onServer(), "TEMPORAL_TLS=false", c.variable+"="+c.value)
			turn := "secret-" + strings.ReplaceAll(c.name, " ", "-") + strings.ToLower(filepath.Base(t.TempDir()))
			for _, args := range [][]string{
				{"run", "--agent", "desk", "--task-queue", "nobody", "--detach", "--turn-id", turn, c.text},
				{"send", turn + "-s", "--agent", "desk", "--task-queue", "nobody", "--detach", c.text},
				{"deny", turn, "--key", "k", "--digest", "d", "--by", "ann", "--comment", c.text},
				{"resolve", turn, "--key", "k", "--verdict", "happened", "--value", c.text, "--by", "ann"},
				{"interrupt", turn, "--by", "ann", "--reason", c.text},
			} {
				if args[0] != "run" && c.code == 0 {
					continue // the others need a worker
				}
				r := finish(t, command(t, dir, starter, env, args...))
				if r.code != c.code || c.code == 2 && (!strings.Contains(r.errOut, c.variable) || !strings.Contains(r.errOut, "nothing was sent")) {
					t.Errorf("%s: exit code %d, want %d: %s", args[0], r.code, c.code, r.errOut)
				}
				if strings.Contains(r.out+r.errOut, planted) {
					t.Errorf("the value is shown: %s%s", r.out, r.errOut)
				}
			}
			if c.code == 2 {
				if r := finish(t, command(t, dir, starter, env, "show", turn)); r.code != 3 {
					t.Errorf("something was sent: %s%s", r.out, r.errOut)
				}
			}
		})
	}
}

// R12: what comes from elsewhere fails at the worker's first step, before the
// model is asked, with the variable's name and the command that removes the run.
func TestSecret_FailsTheTurn(t *testing.T) {
	t.Parallel()
	queue := "secret-turn"
	model := secretWorker(t, queue)
	r := finish(t, command(t, t.TempDir(), starter, onServer(), "run", "--agent", "support", "--task-queue", queue, "--turn-id", queue, "use", planted))
	if r.code != 1 || !strings.Contains(r.errOut, "ended as failed: secret_in_input: ") || !strings.Contains(r.errOut, "OPENAI_API_KEY") {
		t.Fatalf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
	}
	if strings.Contains(r.out+r.errOut, planted) {
		t.Errorf("the value is shown:\n%s%s", r.out, r.errOut)
	}
	if n := len(model.Requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
	remove := regexp.MustCompile(`temporal workflow delete --workflow-id \S+ --run-id \S+`).FindString(r.errOut)
	cli, err := toolbin.TemporalCLI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := append(onServer(), "PATH="+filepath.Dir(cli)+":"+os.Getenv("PATH"))
	if r := finish(t, command(t, t.TempDir(), "sh", path, "-c", remove)); r.code != 0 {
		t.Fatalf("%q: %s%s", remove, r.out, r.errOut)
	}
	for t.Context().Err() == nil { // the server deletes in the background
		if r = finish(t, command(t, t.TempDir(), starter, onServer(), "show", queue)); r.code == 3 {
			break
		}
	}
}

// R12, R50: in a session the message is no part of what was said, and the
// session goes on.
func TestSecret_InASession(t *testing.T) {
	t.Parallel()
	queue := "secret-session"
	model := secretWorker(t, queue)
	send := func(text string) result {
		return finish(t, command(t, t.TempDir(), starter, onServer(), "send", queue, "--agent", "support", "--task-queue", queue, text))
	}
	if r := send("use " + planted); r.code != 1 || !strings.Contains(r.errOut, "secret_in_input") || !strings.Contains(r.errOut, "temporal workflow delete --workflow-id "+queue) {
		t.Errorf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
	}
	if r := send("hello"); r.code != 0 || !strings.Contains(r.out, "Good evening.") {
		t.Errorf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
	}
	for _, request := range model.Requests() {
		for _, m := range request.Messages {
			if strings.Contains(m.Content, planted) {
				t.Errorf("the model was sent %q", m.Content)
			}
		}
	}
}
