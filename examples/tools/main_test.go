package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// T09, T46: the example runs as it stands, on a real server; its own workflow
// books two identical expenses as two effects, each under a key of its own.
func TestT09_ExampleTools(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`assistant  calls convert {"amount":20,"currency":"USD"}`,
		`tool       [{"cents":650,"text":"soup"},{"cents":300,"text":"tea"}]`,
		`tool       {"cents":1840}`,
		`tool       {"id":"E-2","total_cents":2790}`,
		"assistant  I booked the lunch",
		"booked up to E-4, 5190 cents in all",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	turn, own, _ := strings.Cut(out.String(), "\nworkflow ")
	if n, m := strings.Count(turn, " done\n"), strings.Count(own, " done\n"); n != 4 || m != 2 {
		t.Errorf("%d and %d effects are done, want 4 and 2:\n%s", n, m, out.String())
	}
	keys := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^[12] +book_expense +keyed +([0-9a-f]{12}) +1 +done$`).FindAllStringSubmatch(own, -1) {
		keys[m[1]] = true
	}
	if len(keys) != 2 {
		t.Errorf("the workflow's calls have the keys %v, want 2:\n%s", keys, out.String())
	}
}

// T12: a tool is tested in a few lines, without a server.
func TestBookExpense(t *testing.T) {
	t.Parallel()
	tool := BookExpense(&Books{})
	call := agenttest.NewCall(t, agenttest.CallOptions{Key: "k1"})
	const lunch = `{"date":"2026-11-29","cents":950}`
	if got := call.Reconcile(tool, lunch); got.Verdict != contract.VerdictDidNotHappen {
		t.Errorf("before: %+v", got)
	}
	for range 2 { // the second start under the same key books nothing
		if got, err := call.Run(tool, lunch); err != nil || string(got.JSON) != `{"id":"E-1","total_cents":950}` {
			t.Errorf("got %s, %v", got.JSON, err)
		}
	}
	if got := call.Reconcile(tool, lunch); got.Verdict != contract.VerdictHappened || string(got.JSON) != `{"id":"E-1","total_cents":950}` {
		t.Errorf("after: %+v", got)
	}
	for args, want := range map[string]bool{lunch: false, `{"date":"2026-11-29","cents":50001}`: true} {
		if needed, _, err := tool.ApprovalNeeded(tool.Check(args).Canonical); needed != want || err != nil {
			t.Errorf("%s: approval %v, %v", args, needed, err)
		}
	}
}

func TestReadReceipt(t *testing.T) {
	t.Parallel()
	call := agenttest.NewCall(t, agenttest.CallOptions{})
	if _, err := call.Run(ReadReceipt(), `{"file":"lunch.jpg"}`); err != nil {
		t.Fatal(err)
	}
	if want := []string{`{"cents":650,"text":"soup"}`, `{"cents":300,"text":"tea"}`}; !slices.Equal(call.Progress(), want) {
		t.Errorf("progress %q", call.Progress())
	}
	if _, err := call.Run(ReadReceipt(), `{"file":"x.jpg"}`); err == nil || err.Error() != "there is no scan x.jpg" {
		t.Errorf("got %v", err)
	}
}

func TestConvert(t *testing.T) {
	t.Parallel()
	tools, err := allTools()
	if err != nil {
		t.Fatal(err)
	}
	set, err := tooldefs.NewSet(tools...)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := set.Call(t.Context(), "convert", `{"amount":20,"currency":"£"}`); err != nil || string(got.JSON) != `{"cents":1840}` {
		t.Errorf("got %s, %v", got.JSON, err)
	}
	if _, err := set.Call(t.Context(), "convert", `{"amount":20,"currency":"€"}`); err == nil {
		t.Error("an unknown currency")
	}
}
