package cli

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// dev brings "starter dev" up on ports of its own and gives what it says until
// it is ready, with the environment for others to reach it.
func dev(t *testing.T, dir, agents string) (said string, env []string) {
	t.Helper()
	cmd := command(t, dir, starter, nil, "dev", "--agents", agents, "--port", "0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text() + "\n"
		for _, word := range strings.Fields(lines.Text()) {
			if strings.HasPrefix(word, "TEMPORAL_ADDRESS=") {
				return said, []string{word}
			}
		}
	}
	t.Fatalf("it did not get ready:\n%s%s", said, errOut.String())
	return "", nil
}

func agentFolder(t *testing.T, dir, name string, files map[string]string) {
	t.Helper()
	folder := filepath.Join(dir, name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Without a key an agent of one's own is played by its own script or by none:
// never by that of the example, which would tell of refunds that nobody made.
func TestDev_OwnAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := filepath.Join(dir, "own")
	agentFolder(t, own, "mute", map[string]string{"agent.yaml": "model: openai/gpt-4o-mini\n"})
	agentFolder(t, own, "sings", map[string]string{
		"agent.yaml": "model: openai/gpt-4o-mini\n", "instructions.md": "You sing.\n",
		"demo.yaml": "message: Sing!\nsteps:\n  - text: La la.\n",
	})
	agentFolder(t, own, "speaks", map[string]string{
		"agent.yaml": "model: openai/gpt-4o-mini\n", "instructions.md": "You speak.\n",
		"demo.yaml": "steps:\n  - text: Bla bla.\n",
	})
	said, env := dev(t, dir, own)
	for _, want := range []string{
		"a script plays that of sings, speaks", "Turns of mute fail until then", `starter run --agent sings "Sing!"`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	for agent, want := range map[string]string{"sings": "La la.", "speaks": "Bla bla."} {
		if r := finish(t, command(t, dir, starter, env, "run", "--agent", agent, "hello")); r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("%s: exit code %d\n%s%s", agent, r.code, r.out, r.errOut)
		}
	}
	for range 2 { // the same words again are no other request
		r := finish(t, command(t, dir, starter, env, "run", "--agent", "mute", "hello"))
		if all := r.out + r.errOut; r.code != 1 || !strings.Contains(all, "no script plays this agent; start again with OPENAI_API_KEY set") || strings.Contains(all, "refund") {
			t.Errorf("exit code %d\n%s", r.code, all)
		}
	}
	r := finish(t, command(t, dir, starter, nil, "demo", "--agents", own, "--agent", "sings"))
	address := strings.TrimPrefix(env[0], "TEMPORAL_ADDRESS=")
	if want := "has its server up at " + address; r.code != 1 || !strings.Contains(r.errOut, want) || strings.Contains(r.errOut, "--db") {
		t.Errorf("a demo beside it: want %q, got %d\n%s", want, r.code, r.errOut)
	}
}

// What a newcomer's first slips are answered with says what to do.
func TestFirstSlips(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := filepath.Join(dir, "own")
	agentFolder(t, own, "mute", map[string]string{"agent.yaml": "model: openai/gpt-4o-mini\n"})
	npx := filepath.Join(dir, "npx")
	agentFolder(t, npx, "files", map[string]string{"agent.yaml": `model: openai/gpt-4o-mini
mcp_servers:
  files: {command: [npx, -y, no-such-server], prefix: files}
policy:
  rules:
    - id: writes
      when: {tools: [files_write_file]}
      then: require_approval
`})
	for _, tt := range []struct {
		name, want, not string
		args            []string
	}{
		{"the agent's own folder", "name own instead", "demo.yaml", []string{"demo", "--agents", "own/mute"}},
		{"no script", "starter dev --agents own, and in a second terminal: starter chat --agent mute", "", []string{"demo", "--agents", "own"}},
		{"no such folder", "name another (--agents", "", []string{"check", "--agents", "nowhere"}},
		{"no npx", "install Node.js 20 or later", "this worker has no tool", []string{"check", "--agents", "npx"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := finish(t, command(t, dir, starter, []string{"PATH=" + dir}, tt.args...))
			if r.code == 0 || !strings.Contains(r.errOut, tt.want) || tt.not != "" && strings.Contains(r.errOut, tt.not) {
				t.Errorf("want %q, got %d\n%s%s", tt.want, r.code, r.out, r.errOut)
			}
		})
	}
}

// What the demo says of the model names the address and no secret.
func TestDemo_RealModel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, want, env, key string }{
		{"no key", "without a key, since OPENAI_API_KEY is not set", "OPENAI_BASE_URL=http://u:planted@127.0.0.1:1/v1?k=planted", ""},
		{"key", "http://127.0.0.1:1/v1, with the key in OPENAI_API_KEY", "OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OPENAI_API_KEY=planted-key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, t.TempDir(), starter, append(onServer(), tt.env, tt.key), "demo", "--agents", agents)
			if said := firstLines(t, cmd, "Model:"); !strings.Contains(said, tt.want) || strings.Contains(said, "planted") {
				t.Errorf("want %q, got:\n%s", tt.want, said)
			}
		})
	}
}

// firstLines runs a command until it has printed a line that begins so.
func firstLines(t *testing.T, cmd *exec.Cmd, until string) (said string) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if said += lines.Text() + "\n"; strings.HasPrefix(lines.Text(), until) {
			break
		}
	}
	_ = cmd.Process.Signal(os.Interrupt)
	_, _ = cmd.Process.Wait()
	return said
}
