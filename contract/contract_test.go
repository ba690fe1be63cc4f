package contract_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/turnkeel/turnkeel/contract"
)

func TestBoundText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in  string
		max int
	}{
		{strings.Repeat("ü", 5_000), 300}, {"a\x00b\xffc", 10}, {strings.Repeat("x", 50), 10}, {"short", 100},
	} {
		got := contract.BoundText(c.in, c.max)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > c.max || strings.Contains(got, "\x00") {
			t.Errorf("BoundText(%.20q, %d) = %.60q", c.in, c.max, got)
		}
	}
	got := contract.BoundText("HEAD"+strings.Repeat("x", 5_000)+"TAIL", 300)
	if !strings.HasPrefix(got, "HEAD") || !strings.HasSuffix(got, "TAIL") || !strings.Contains(got, "5008") {
		t.Errorf("head, tail or size is lost: %q", got)
	}
}

// R03: a start may tighten an agent's limits, never widen them.
func TestLimits_Tighten(t *testing.T) {
	t.Parallel()
	agent := contract.Limits{MaxSteps: 10, MaxWallClock: contract.Duration(time.Minute)}.WithDefaults()
	got := agent.Tighten(&contract.Limits{MaxSteps: 20, MaxToolConcurrency: 2, TokenBudget: 5, MaxWallClock: contract.Duration(time.Hour)})
	if got.MaxSteps != 10 || got.MaxToolConcurrency != 2 || got.TokenBudget != 5 || got.MaxWallClock != agent.MaxWallClock {
		t.Errorf("%+v", got)
	}
}

// What stands in a history keeps its form.
func TestWireForm(t *testing.T) {
	t.Parallel()
	in := contract.TurnInput{Agent: "a", Messages: []contract.Message{{Role: contract.RoleUser, Content: "hi"}},
		Limits: &contract.Limits{MaxWallClock: contract.Duration(90 * time.Second)}}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"agent":"a","messages":[{"role":"user","content":"hi"}],"limits":{"max_wall_clock":"1m30s"}}`; string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
	if id := contract.CallActivityID(3, 7, 1); id != "s3.c7.r1" {
		t.Error(id)
	}
}

// F08: refused arguments never make a later request illegal.
func TestMessage_ArgumentsAreAlwaysAnObject(t *testing.T) {
	t.Parallel()
	m := contract.CallModelResult{Calls: []contract.PlannedCall{
		{WireID: "1", Args: `{"a":1}`}, {WireID: "2", Raw: `{"a":`}, {WireID: "3", Raw: `{"a":"x"}`}, {WireID: "4", Raw: `[1]`}, {WireID: "5"},
	}}.Message()
	for i, want := range []string{`{"a":1}`, `{}`, `{"a":"x"}`, `{}`, `{}`} {
		if got := m.ToolCalls[i].Args; got != want {
			t.Errorf("call %d: %s, want %s", i+1, got, want)
		}
	}
}
