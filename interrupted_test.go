package turnkeel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Y04, Y06: Ctrl-C while an MCP server starts blames no server: the command says
// that it was interrupted, leaves nothing running, and JSON output has no
// problems that are none.
func TestInterruptedCommands(t *testing.T) {
	t.Setenv("TURNKEEL_BLOBS", "none")
	for _, args := range [][]string{{"check"}, {"check", "-o", "json"}, {"tools"}, {"tools", "-o", "json"}, {"policy", "test", "a"}, {"run"}, {}} {
		started := filepath.Join(t.TempDir(), "started")
		dir := agentsDir(t, "a", "model: openai/y\nmcp_servers: {s: {command: [sh, -c, \"touch "+started+"; exec sleep 1000\"]}}\n")
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil {
				if _, err := os.Stat(started); err == nil {
					cancel()
				}
				time.Sleep(time.Millisecond)
			}
		}()
		var out, errOut bytes.Buffer
		code := mainCode(ctx, Options{AgentsDir: dir}, args, &out, &errOut)
		cancel()
		if code != 130 || out.String() != "" || errOut.String() != "interrupted; everything that was started here has been stopped\n" {
			t.Errorf("%v: %d, %s, %s", args, code, &out, &errOut)
		}
	}
}

// Y04: no more than so many servers start at once, whatever the number of agents.
func TestServersStartInTurns(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i := range startsAtOnce + 4 {
		files = append(files, fmt.Sprintf("a%d", i), fmt.Sprintf("model: openai/y\nmcp_servers: {s: {command: [sh, -c, \"touch %s/%d; exec sleep 1000\"]}}\n", dir, i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	started := func() int {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		return len(entries)
	}
	go func() {
		for ctx.Err() == nil && started() < startsAtOnce {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := Open(ctx, Options{AgentsDir: agentsDir(t, files...)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := started(); n != startsAtOnce {
		t.Errorf("%d servers were started", n)
	}
}

// Y01, Y04, Y06: tools tells problems as check does, and every command the same
// exit code for what is not there.
func TestToolsAndPolicyTestTellProblems(t *testing.T) {
	broken := Options{AgentsDir: agentsDir(t, "a", "model: x\n", "b", "tols: 1\nmodel: openai/y\n")}
	for _, args := range [][]string{{"check", "-o", "json"}, {"tools", "-o", "json"}, {"tools", "a", "-o", "json"}} {
		code, out, errOut := command(t, broken, args...)
		var d Description
		if err := json.Unmarshal([]byte(out), &d); err != nil || code != 1 || len(d.Problems) != 2 || d.Problems[1].Line != 1 || strings.Count(errOut, "agent.yaml:") != 2 {
			t.Errorf("%v: %d, %v\n%s\n%s", args, code, err, out, errOut)
		}
	}
	dir := agentsDir(t, "a", "model: openai/y\npolicy: {rules: [{id: no, when: {tools: ['*']}, then: {deny: no}}]}\n")
	o := Options{AgentsDir: dir}
	if code, _, errOut := command(t, o, "policy", "test", "a"); code != 3 || !strings.Contains(errOut, "policy_test.yaml: no such file or directory; write some, or name their file with --cases") {
		t.Errorf("%d %s", code, errOut)
	}
	if code, _, errOut := command(t, o, "policy", "test", "b"); code != 3 || !strings.Contains(errOut, `has no agent "b"`) {
		t.Errorf("%d %s", code, errOut)
	}
	cases := filepath.Join(dir, "a", "policy_test.yaml")
	if err := os.WriteFile(cases, []byte("cases:\n- {tool: x, want: deny, rule: no}\n- {tool: y, want: allow}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errOut := command(t, o, "policy", "test", "a", "-o", "json")
	if code != 1 || errOut != "1 of 2 cases failed\n" || strings.Count(out, "\n") != 2 {
		t.Errorf("%d\n%s\n%s", code, out, errOut)
	}
	for line := range strings.Lines(out) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}
