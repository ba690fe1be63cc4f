package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/wire"
	"github.com/turnkeel/turnkeel/tooldefs"
)

type planIn struct {
	N int `json:"n" jsonschema:"minimum=1"`
}

func planTool(name string, change func(*tooldefs.Spec[planIn, string])) *tooldefs.Tool {
	s := tooldefs.Spec[planIn, string]{
		Name: name, Description: "d",
		Handler: func(context.Context, *tooldefs.Call, planIn) (string, error) { return "", nil },
	}
	if change != nil {
		change(&s)
	}
	return tooldefs.Define(s)
}

// planned plans the calls of one answer to an agent that has all the tools.
func planned(t *testing.T, agent contract.Agent, tools []*tooldefs.Tool, calls ...contract.ToolCall) []contract.PlannedCall {
	t.Helper()
	set, err := tooldefs.NewSet(tools...)
	if err != nil {
		t.Fatal(err)
	}
	agent.Name, agent.Tools, agent.Limits = "a", []string{"all"}, agent.Limits.WithDefaults()
	a, err := New(Options{Agents: []contract.Agent{agent}, Tools: set, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return a.plan(contract.CallModelInput{Ordinal: 1}, fold.New(nil), agent, a.toolsOf(agent), wire.Answer{Calls: calls})
}

func asks(name, args string) contract.ToolCall { return contract.ToolCall{Name: name, Args: args} }

// T20, P06: the name it used and the valid ones; nothing fuzzy; a resolved name
// passes the gates of the tool it resolved to.
func TestT20_UnknownTool(t *testing.T) {
	t.Parallel()
	tools := []*tooldefs.Tool{planTool("note", nil), planTool("pay", func(s *tooldefs.Spec[planIn, string]) { s.Approval = tooldefs.Always })}
	got := planned(t, contract.Agent{}, tools,
		asks("nope", `{"n":1}`), asks("Note", `{"n":1}`), asks("functions.pay", `{"n":1}`), asks("pay:0", `{"n":0}`))
	for i, name := range []string{"nope", "Note"} {
		if p := got[i].Problem; p == nil || p.Kind != contract.ProblemUnknownTool || p.Text != `error: unknown tool "`+name+`". valid tools: note, pay` {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if c := got[2]; c.Tool != "pay" || c.Run == nil || c.Run.Approval == nil {
		t.Errorf("a wrapped name: %+v", c)
	}
	if c := got[3]; c.Tool != "pay" || c.Problem == nil || c.Problem.Kind != contract.ProblemArguments {
		t.Errorf("a wrapped name with bad arguments: %+v", c)
	}
}

// T28, P20: the first 64 calls run, each of the rest is told why not.
func TestT28_TooManyCalls(t *testing.T) {
	t.Parallel()
	calls := make([]contract.ToolCall, 792)
	for i := range calls {
		calls[i] = asks("note", fmt.Sprintf(`{"n":%d}`, i+1))
	}
	for limit, agent := range map[int]contract.Agent{64: {}, 3: {Limits: contract.Limits{MaxToolCallsPerStep: 3}}} {
		got := planned(t, agent, []*tooldefs.Tool{planTool("note", nil)}, calls...)
		for i, c := range got {
			if i < limit && c.Run == nil || i >= limit && (c.Problem == nil || c.Problem.Kind != contract.ProblemTooMany || !strings.Contains(c.Problem.Text, fmt.Sprint(limit))) {
				t.Fatalf("limit %d, call %d: %+v", limit, i, c)
			}
		}
	}
}

// T27: P14, P15, R20: a person is asked about arguments that would run, and about
// no others; a rule that panics asks.
func TestT27_P14_P15_Approval(t *testing.T) {
	t.Parallel()
	asked := 0
	tools := []*tooldefs.Tool{
		planTool("rule", func(s *tooldefs.Spec[planIn, string]) {
			s.ApprovalTimeout, s.Approvers = time.Hour, []string{"ada"}
			s.Approval = func(in planIn) bool {
				asked++
				if in.N == 7 {
					panic("secret")
				}
				return in.N > 100
			}
		}),
		planTool("always", func(s *tooldefs.Spec[planIn, string]) { s.Approval = tooldefs.Always }),
		planTool("key", func(s *tooldefs.Spec[planIn, string]) {
			s.Approval, s.IdempotencyKey = tooldefs.Always, func(planIn) string { panic("no") }
		}),
	}
	got := planned(t, contract.Agent{ApprovalTimeout: contract.Duration(time.Minute)}, tools,
		asks("rule", `{"n":0}`), asks("rule", `{"n":"x"}`), asks("rule", `{`), asks("rule", `{"n":1}`), asks("rule", `{"n":101}`), asks("rule", `{"n":7}`),
		asks("always", `{"n":1}`), asks("key", `{"n":1}`))
	for i := range 3 {
		if got[i].Problem == nil || got[i].Problem.Kind != contract.ProblemArguments || got[i].Run != nil {
			t.Errorf("invalid arguments %d: %+v", i, got[i])
		}
	}
	if asked != 3 {
		t.Errorf("the rule was asked %d times, want 3: valid arguments only, once each", asked)
	}
	want := []*contract.ApprovalPlan{
		nil,
		{Reason: "the tool asks for approval", Approvers: []string{"ada"}, Timeout: contract.Duration(time.Hour)},
		{Reason: "the tool's own rule on approval failed", Approvers: []string{"ada"}, Timeout: contract.Duration(time.Hour)},
		{Reason: "the tool asks for approval", Timeout: contract.Duration(time.Minute)},
	}
	for i, w := range want {
		if diff := cmp.Diff(w, got[3+i].Run.Approval); diff != "" {
			t.Errorf("call %d: %s", 3+i, diff)
		}
	}
	if p := got[7].Problem; p == nil || p.Kind != contract.ProblemKey || strings.Contains(p.Text, "no\n") {
		t.Errorf("T47: a key that panics: %+v", got[7])
	}
}

// P03: an identical second call is a call of its own, with an approval of its
// own.
func TestP03_IdenticalCallsAreAskedTwice(t *testing.T) {
	t.Parallel()
	tool := planTool("pay", func(s *tooldefs.Spec[planIn, string]) { s.Approval = tooldefs.Always })
	got := planned(t, contract.Agent{}, []*tooldefs.Tool{tool}, asks("pay", `{"n":1}`), asks("pay", `{"n":1}`))
	if got[0].Run.Approval == nil || got[1].Run.Approval == nil || got[0].WireID == got[1].WireID {
		t.Errorf("got %+v, %+v", got[0], got[1])
	}
}

// T34, T49, T50: what the tool says of unknown outcomes and of resets, with the
// agent's default where it does not.
func TestT34_T49_T50_Plan(t *testing.T) {
	t.Parallel()
	tools := []*tooldefs.Tool{
		planTool("plain", nil),
		planTool("asks", func(s *tooldefs.Spec[planIn, string]) { s.OnUnknown = tooldefs.AskHuman }),
		planTool("finds", func(s *tooldefs.Spec[planIn, string]) {
			s.Reconcile = func(context.Context, *tooldefs.Call, planIn) (tooldefs.Reconciled[string], error) {
				return tooldefs.DidNotHappen[string](), nil
			}
		}),
		planTool("reads", func(s *tooldefs.Spec[planIn, string]) { s.Effects, s.NoReplay = tooldefs.None, true }),
	}
	const ask, tell = contract.OnUnknownAskHuman, contract.OnUnknownTellModel
	for agent, want := range map[contract.OnUnknown][]contract.OnUnknown{tell: {tell, ask, tell, tell}, ask: {ask, ask, ask, tell}} {
		for i, tool := range tools {
			run := planned(t, contract.Agent{OnUnknown: agent}, tools, asks(tool.Name(), `{"n":1}`))[0].Run
			if run.OnUnknown != want[i] || run.Reconcile != (tool.Name() == "finds") || run.NoReplay != (tool.Name() == "reads") || run.ParallelSafe {
				t.Errorf("agent %q, %s: %+v", agent, tool.Name(), run)
			}
		}
	}
}

// T31: the predicate sees the raw text; one that panics makes the call serial.
func TestT31_RawArguments(t *testing.T) {
	t.Parallel()
	var saw []string
	tool := planTool("note", func(s *tooldefs.Spec[planIn, string]) {
		s.ParallelSafe = func(raw string) bool {
			saw = append(saw, raw)
			if strings.Contains(raw, "3") {
				panic("no")
			}
			return true
		}
	})
	got := planned(t, contract.Agent{}, []*tooldefs.Tool{tool}, asks("note", ` {"n": 1.0} `), asks("note", `{"n":3}`))
	if !got[0].Run.ParallelSafe || got[1].Run.ParallelSafe || len(saw) != 2 || saw[0] != ` {"n": 1.0} ` {
		t.Errorf("got %+v, %+v; saw %q", got[0].Run, got[1].Run, saw)
	}
}

// P22, D03: each call says in one bounded line what it does, and which version
// of its tool it was planned for.
func TestP22_SummaryAndDigest(t *testing.T) {
	t.Parallel()
	tools := []*tooldefs.Tool{
		planTool("plain", nil),
		planTool("own", func(s *tooldefs.Spec[planIn, string]) {
			s.Summary = func(in planIn) string { return strings.Repeat("é", 500*in.N) }
		}),
	}
	got := planned(t, contract.Agent{}, tools, asks("plain", `{"n":1}`), asks("own", `{"n":2}`))
	if s := got[0].Run.Summary; s != `plain {"n":1}` {
		t.Errorf("summary %q", s)
	}
	if s := got[1].Run.Summary; len(s) > 200 || !utf8.ValidString(s) || s == "" {
		t.Errorf("summary of %d bytes", len(s))
	}
	if got[0].Run.Digest == "" || got[0].Run.Digest == got[1].Run.Digest {
		t.Errorf("digests %q, %q", got[0].Run.Digest, got[1].Run.Digest)
	}
}

// B01, B08, B10: the gates of a plan never fail the model call, whatever the
// model wrote, and keep every digit.
func TestB01_B08_B10_PlanIsTotal(t *testing.T) {
	t.Parallel()
	tool, err := tooldefs.Wrap(tooldefs.WrapSpec{
		Name: "x", Description: "d", Schema: json.RawMessage(`{"properties":{"n":{"type":"number","maximum":1e17},"path":{"enum":["safe"]}}}`),
		Invoke:         func(context.Context, *tooldefs.Call, json.RawMessage) (any, error) { return nil, nil },
		Summary:        func(string) string { panic("no") },
		ParallelSafe:   func(string) bool { panic("no") },
		Approval:       func(string) bool { panic("no") },
		IdempotencyKey: func(args string) string { return args },
	})
	if err != nil {
		t.Fatal(err)
	}
	got := planned(t, contract.Agent{}, []*tooldefs.Tool{tool}, asks("x", `{"n":1E1000001}`), asks("x", `{"path":"safe","PATH":"/etc/passwd"}`),
		asks("x", `{"path":"/etc/passwd","path":"safe"}`), asks("x", `{"n":9007199254740993}`), asks("x", `{"n":9007199254740992}`), asks("x", `{"a":"`+strings.Repeat("x", 300<<10)+`"}`))
	for i := range 3 {
		if p := got[i].Problem; p == nil || p.Kind != contract.ProblemArguments {
			t.Errorf("call %d: %+v", i, got[i])
		}
	}
	if a, b := got[3], got[4]; a.Run == nil || b.Run == nil || a.Args == b.Args || a.Run.Override == b.Run.Override || a.Run.Approval == nil {
		t.Errorf("got %+v, %+v", a, b)
	}
	if p := got[5].Problem; p == nil || p.Kind != contract.ProblemTooLarge {
		t.Errorf("large arguments: %+v", p)
	}
}
