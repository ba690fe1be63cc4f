package mcp

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// keys are what handlers read, in order.
type keys struct {
	mu   sync.Mutex
	read []string
}

// payTool tells the key that it is given, as a careless handler would.
func (k *keys) payTool() *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[struct{}, string]{
		Name: "pay", Description: "Pays.", Class: tooldefs.Keyed, Env: []string{"PAY_KEY"},
		Handler: func(_ context.Context, call *tooldefs.Call, _ struct{}) (string, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.read = append(k.read, call.Env("PAY_KEY"))
			return "", errors.New("refused: " + call.Env("PAY_KEY"))
		},
	})
}

const payYAML = "tools: [pay]\nenv: {required: [PAY_KEY], bind: {PAY_KEY: AGENTS_PAY_KEY}}\npolicy: {rules: [{id: ask, when: {tools: [pay]}, then: require_approval}]}\n"

// Y02, Y05: a call that waits while a deploy changes its agent's file gets the
// value that the agent declares now, by its binding. Where the agent is gone, or
// declares the variable no more, the call is not executed: no handler gets
// another's key, and none stands in history.
func TestCallOfAnAgentThatChanged(t *testing.T) {
	const raw, bound, other = "sk-raw-77c1a0b2", "sk-agents-5be90d13", "sk-other-0a9d4411"
	for name, value := range map[string]string{"PAY_KEY": raw, "AGENTS_PAY_KEY": bound, "OTHER_PAY_KEY": other} {
		t.Setenv(name, value)
	}
	for name, tt := range map[string]struct {
		change func(t *testing.T, file string)
		want   string // what the handler reads; empty: it does not run
		tells  string
	}{
		"nothing": {func(*testing.T, string) {}, bound, "refused: [PAY_KEY]"},
		"binding": {func(t *testing.T, file string) { replace(t, file, "AGENTS_PAY_KEY", "OTHER_PAY_KEY") }, other, "refused: [PAY_KEY]"},
		"declared no more": {func(t *testing.T, file string) {
			replace(t, file, payYAML, "")
		}, "", "declares the variable PAY_KEY no more"},
		"gone": {func(t *testing.T, file string) {
			if err := os.RemoveAll(filepath.Dir(file)); err != nil {
				t.Fatal(err)
			}
		}, "", "is not on this worker"},
	} {
		t.Run(name, func(t *testing.T) {
			var k keys
			b := newBenchOf(t, []*tooldefs.Tool{k.payTool()}, payYAML, call("pay", map[string]any{}), said("done"))
			turn := b.Start("pay")
			pending := b.pending(turn)
			b.stop()
			second := filepath.Join(b.folder, "second")
			if err := os.Mkdir(second, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(second, "agent.yaml"), []byte("model: openai/scripted\nendpoint: {base_url: \""+b.Model.URL()+"\"}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			tt.change(t, filepath.Join(b.folder, agenttest.AgentName, "agent.yaml"))
			b.serve()
			b.approve(turn, pending)
			out := b.Wait(turn)
			if got := strings.Join(k.read, " "); got != tt.want {
				t.Errorf("the handler read %q, want %q", got, tt.want)
			}
			if tt.want == "" && out.Effects[0].Outcome != contract.OutcomeNotExecuted {
				t.Errorf("the effect: %+v", out.Effects[0])
			}
			if text := out.Messages[len(out.Messages)-2].Content; !strings.Contains(text, tt.tells) {
				t.Errorf("the model reads %q, want %q", text, tt.tells)
			}
			history, err := proto.Marshal(out.History)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{raw, bound, other} {
				if bytes.Contains(history, []byte(secret)) {
					t.Errorf("the history has %s", secret)
				}
			}
		})
	}
}

func replace(t *testing.T, file, from, to string) {
	t.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // the test's
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), from) {
		t.Fatalf("%q is not in %s", from, text)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), from, to)), 0o600); err != nil {
		t.Fatal(err)
	}
}
