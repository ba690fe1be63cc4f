package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// scriptedAgents is a folder with the agents a and b, each of its own script.
func scriptedAgents(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"agents/a/agent.yaml": "model: scripted/demo.yaml\ntools: [lookup_order]\n",
		"agents/a/demo.yaml": `message: Where is A-1001?
steps:
  - text: I look.
    calls: [{name: lookup_order, args: {order_id: A-1001}}]
  - {text: "It is on its way.", delay: 3s}
turns:
  - when: again
    steps: [{calls: [{name: lookup_order, args: {order_id: A-1001}}]}]
`,
		"agents/b/agent.yaml":     "model: scripted/scripts/b.yaml\n",
		"agents/b/scripts/b.yaml": "steps: [{text: I am b.}]\n",
		"moved/a/agent.yaml":      "model: openai/x\ntools: [lookup_order]\n",
		"broken/a/agent.yaml":     "model: scripted/demo.yaml\nendpoint: {base_url: http://h/v1}\n",
		"broken/a/demo.yaml":      "steps:\n  - txt: a\n",
		"broken/b/agent.yaml":     "model: scripted/gone.yaml\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Y01, Y04, Y05: an agent whose model is a script runs on the stock worker with
// no key: several agents, a worker killed in the middle of a turn, a step beyond
// the script's end, and a worker that has the script no more.
func TestScriptedAgents(t *testing.T) {
	t.Parallel()
	dir, queue := scriptedAgents(t), "scripted-"+filepath.Base(t.TempDir())
	queue += strings.ReplaceAll(filepath.Base(filepath.Dir(t.TempDir())), "/", "-")
	env := append(onServer(), "XDG_DATA_HOME="+t.TempDir())
	cli := func(args ...string) result { t.Helper(); return finish(t, command(t, dir, starter, env, args...)) }
	serve := func(folder string) (kill func()) {
		w := command(t, dir, worker, env, "--task-queue", queue, "--agents", folder)
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		return func() { _ = w.Process.Signal(syscall.SIGKILL); _ = w.Wait() }
	}
	if r := cli("check", "--agents", "agents"); r.code != 0 || !strings.Contains(r.out, "scripted/demo.yaml") {
		t.Errorf("check: %d %s%s", r.code, r.out, r.errOut)
	}
	if r := cli("tools", "a", "--agents", "agents"); r.code != 0 || !strings.Contains(r.out, "lookup_order") {
		t.Errorf("tools: %d %s%s", r.code, r.out, r.errOut)
	}
	r := cli("check", "--agents", "broken")
	for _, want := range []string{"broken/a/demo.yaml:2:5: unknown field", "broken/a/agent.yaml:2:11: endpoint: a scripted model", "broken/b/agent.yaml:1:8: model: cannot read the script"} {
		if all := r.out + r.errOut; r.code != 1 || !strings.Contains(all, want) {
			t.Errorf("check of broken agents, exit code %d, lacks %q:\n%s", r.code, want, all)
		}
	}
	kill := serve("agents")
	if r := cli("run", "--task-queue", queue, "--agent", "b", "hello"); r.code != 0 || !strings.Contains(r.out, "I am b.") {
		t.Errorf("b: %d %s%s", r.code, r.out, r.errOut)
	}
	turn := queue + "-killed"
	called := func() { // until the turn's one call has its result
		t.Helper()
		var last result
		for tries := 0; tries < 200; tries++ {
			if last = cli("effects", turn); strings.Contains(last.out, "done") {
				return
			}
		}
		t.Fatalf("no call of %s has ended: %d %s%s", turn, last.code, last.out, last.errOut)
	}
	if r := cli("run", "--task-queue", queue, "--agent", "a", "--turn-id", turn, "--detach", "Where is it?"); r.code != 0 {
		t.Fatalf("start: %d %s%s", r.code, r.out, r.errOut)
	}
	called()
	kill()
	kill = serve("agents")
	if r := cli("watch", turn); r.code != 0 || !strings.Contains(r.out, "It is on its way.") {
		t.Errorf("after the kill: %d %s%s", r.code, r.out, r.errOut)
	}
	r = cli("show", turn)
	if r.code != 0 || strings.Contains(r.out, "$") || strings.Contains(r.out, "scripted/") {
		t.Errorf("show: %d %s%s", r.code, r.out, r.errOut)
	}
	r = cli("run", "--task-queue", queue, "--agent", "a", "once again")
	if r.code == 0 || !strings.Contains(r.out+r.errOut, "agents/a/demo.yaml has 1 steps") {
		t.Errorf("beyond the end: %d %s%s", r.code, r.out, r.errOut)
	}
	turn = queue + "-moved"
	if r := cli("run", "--task-queue", queue, "--agent", "a", "--turn-id", turn, "--detach", "Where is it?"); r.code != 0 {
		t.Fatalf("start: %d %s%s", r.code, r.out, r.errOut)
	}
	called()
	kill()
	kill = serve("moved")
	defer func() { kill() }()
	if r := cli("watch", turn); r.code != 1 || !strings.Contains(r.out+r.errOut, `this worker has no script "demo.yaml"`) {
		t.Errorf("without the script: %d %s%s", r.code, r.out, r.errOut)
	}
}
