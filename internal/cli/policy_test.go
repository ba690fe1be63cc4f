package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/internal/policy"
)

func starter(args ...string) (code int, out, errOut string) {
	var o, e bytes.Buffer
	code = Main(args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// R32: the shipped agent's cases, found beside it, as a table and as JSON.
func TestR32_PolicyTest(t *testing.T) {
	const agents = "../../agents"
	code, out, errOut := starter("policy", "test", "support", "--agents", agents)
	if code != ExitDone || errOut != "" || !strings.Contains(out, "ok  a cent too much                refund         deny     big_refunds\n") {
		t.Errorf("%d, %s\n%s", code, errOut, out)
	}
	code, out, _ = starter("policy", "test", "support", "--agents", agents, "-o", "json")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for _, line := range lines {
		var r policy.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil || !r.Passed || r.Policy == "" || r.Rule == "" {
			t.Errorf("%s: %v", line, err)
		}
	}
	if code != ExitDone || len(lines) < 5 {
		t.Errorf("%d, %d lines", code, len(lines))
	}
}

// R32: a case that fails, mistakes in the file, and what is not there.
func TestR32_PolicyTestFails(t *testing.T) {
	dir := t.TempDir()
	file := func(text string) string {
		name := filepath.Join(dir, "cases.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const head = "cases:\n  - "
	for _, tt := range []struct {
		name, agent, cases, out, errOut string
		code                            int
	}{
		{"wrong verdict", "support", head + "{tool: refund, args: {order_id: A-1, amount_cents: 60000}, want: allow}\n",
			"want allow, got deny by big_refunds: refunds above 500.00 are made by people", "1 of 1 cases failed", ExitFailed},
		{"wrong rule", "support", head + "{name: x, tool: lookup_order, args: {order_id: A-1}, want: allow, rule: refunds}\n",
			"want allow by refunds, got allow by reads", "1 of 1 cases failed", ExitFailed},
		{"never reaches the policy", "support", head + "{tool: refund, args: {order_id: 7}, want: deny}\n",
			"its arguments never reach the policy", "1 of 1 cases failed", ExitFailed},
		{"exact numbers", "support", head + "{tool: other, args: {n: 9007199254740993, l: [1.50, x, {a: true}]}, want: allow}\n",
			`other {"n":9007199254740993,"l":[1.50,"x",{"a":true}]}`, "1 of 1 cases failed", ExitFailed},
		{"no such rule", "support", head + "{tool: a, want: deny, rule: nope}\n", "", `:2:33: cases[0].rule: the policy has no rule "nope"`, ExitFailed},
		{"unknown key", "support", head + "{tool: a, wants: deny}\n", "", `unknown key "wants" in cases[0]; did you mean "want"?`, ExitFailed},
		{"no want", "support", head + "{tool: a}\n", "", "cases[0]: want is missing", ExitFailed},
		{"no cases", "support", "cases: []\n", "", "cases is empty", ExitFailed},
		{"no agent", "suppor", head + "{tool: a, want: deny}\n", "", `has no agent "suppor"; it has: support`, ExitNotFound},
		{"no file", "support", "", "", "name their file with --cases", ExitNotFound},
	} {
		cases := filepath.Join(dir, "not there")
		if tt.cases != "" {
			cases = file(tt.cases)
		}
		code, out, errOut := starter("policy", "test", tt.agent, "--agents", "../../agents", "--cases", cases)
		if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(errOut, tt.errOut) {
			t.Errorf("%s: %d\n%s%s", tt.name, code, out, errOut)
		}
	}
	if code, _, _ := starter("policy", "test"); code != ExitUsage {
		t.Errorf("no agent named: %d", code)
	}
}

// R32: an agent without a policy has nothing to test.
func TestR32_NoPolicy(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "plain"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain", "agent.yaml"), []byte("model: openai/x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errOut := starter("policy", "test", "plain", "--agents", dir)
	if code != ExitFailed || !strings.Contains(errOut, "agent plain has no policy to test") {
		t.Errorf("%d: %s", code, errOut)
	}
}
