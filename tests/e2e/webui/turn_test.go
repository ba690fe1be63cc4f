package webui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

type (
	orderInput struct {
		Order string `json:"order"`
	}
	chargeInput struct {
		Amount int    `json:"amount"`
		Note   string `json:"note,omitempty"`
	}
	receiptInput struct {
		To string `json:"to"`
	}
)

// shop is a tool that looks up, one that a person must allow, and one that
// fails.
func shop() []*tooldefs.Tool {
	return []*tooldefs.Tool{
		tooldefs.Define(tooldefs.Spec[orderInput, string]{
			Name: "lookup_order", Description: "Looks an order up.", Effects: tooldefs.None, ParallelSafe: tooldefs.Always,
			Handler: func(context.Context, *tooldefs.Call, orderInput) (string, error) { return "42 EUR, unpaid", nil },
		}),
		tooldefs.Define(tooldefs.Spec[chargeInput, string]{
			Name: "charge_card", Description: "Charges the card.", Approval: tooldefs.Always, ApprovalTimeout: 24 * time.Hour,
			Handler: func(_ context.Context, _ *tooldefs.Call, in chargeInput) (string, error) {
				return "charged: " + in.Note, nil
			},
		}),
		tooldefs.Define(tooldefs.Spec[receiptInput, string]{
			Name: "send_receipt", Description: "Mails a receipt.",
			Handler: func(context.Context, *tooldefs.Call, receiptInput) (string, error) {
				return "", errors.New("the mailbox of ann@example.com is full")
			},
		}),
	}
}

func call(tool, field string, value any) agenttest.ScriptCall {
	return agenttest.ScriptCall{Name: tool, Args: map[string]any{field: value}}
}

const request = "Charge Ann's card for order A-1001, and send her a receipt."

func sale() agenttest.Script {
	return agenttest.Script{Steps: []agenttest.Step{
		{Text: "Let me look.", Calls: []agenttest.ScriptCall{call("lookup_order", "order", "A-1001"), call("lookup_order", "order", "A-1002")}},
		{Calls: []agenttest.ScriptCall{call("charge_card", "amount", 42)}},
		{Calls: []agenttest.ScriptCall{call("send_receipt", "to", "ann@example.com")}},
		{Text: "Ann's card was charged 42 EUR. Her receipt could not be sent: her mailbox is full."},
	}}
}

// awaitQuestion waits until the turn waits for a person.
func awaitQuestion(t *testing.T, b *agenttest.Bench, turn string) contract.Pending {
	t.Helper()
	for {
		status, err := b.Turns.Status(t.Context(), turn)
		if err == nil && len(status.Pending) == 1 {
			return status.Pending[0]
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%d calls wait, want 1 (%v)", len(status.Pending), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// R21, R25, P22: who opens a turn in the Web UI understands it without opening a
// payload: while it waits for a person, and once it has ended. The command
// shown there decides.
func TestTurn(t *testing.T) {
	t.Parallel()
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: shop(), Script: sale()})
	turn := b.Start(request)
	asked := awaitQuestion(t, b, turn.ID)
	ui := newBrowser(t)
	t.Run("waiting", func(t *testing.T) { waitingTurn(t, ui, turn, asked) })
	details := ui.see(pageOf(t, turn, "user-metadata"), "Approve:")
	runShown(t, details, `"approve":true`)
	out := b.Wait(turn)
	t.Run("completed", func(t *testing.T) { completedTurn(t, ui, out) })
}

// waitingTurn looks at the pages of the turn while it is parked.
func waitingTurn(t *testing.T, ui *browser, turn *turnkeel.Turn, asked contract.Pending) {
	ui = ui.in(t)
	details := ui.see(pageOf(t, turn, "user-metadata"),
		"test: "+request, "waiting · agent test · step 2",
		"charge_card waits for approval", "the tool asks for approval · expires ", `{"amount":42}`,
		"calls: 2 done, 0 failed, 0 unknown, 0 not executed · tokens: ",
		"Approve:", "Deny:", `"key":"`+asked.Key+`"`, `"digest":"`+asked.Digest+`"`, "starter approve "+turn.ID)
	if strings.Contains(details, "running") {
		t.Errorf("a call that waits is shown as running:\n%s", details)
	}
	ui.keep("webui-waiting", "Summary", 820)
	ui.see(pageOf(t, turn, "timeline"), "the approval of charge_card expires")
	ui.see(pageOf(t, turn, "search-attributes"),
		`"TurnkeelAgent": "test"`, `"TurnkeelPending": 1`, `"TurnkeelStatus": "waiting"`)
	ui.see(webUI(t)+"/workflows?query=TurnkeelPending+%3E+0+AND+WorkflowType+%3D+%22turnkeel.Turn%22", turn.ID)
}

// completedTurn looks at the pages of the turn once it has ended.
func completedTurn(t *testing.T, ui *browser, out agenttest.Outcome) {
	ui = ui.in(t)
	if out.Err != nil || len(out.Effects) != 4 {
		t.Fatalf("%+v %v", out.Effects, out.Err)
	}
	key := func(i int) string { return " · key " + out.Effects[i].Key[:8] }
	ui.see(pageOf(t, out.Turn, "user-metadata"), "completed · agent test · step 4", "calls: 3 done, 1 failed, 0 unknown")
	// One row for each activity, with all its events, below the step that asked for it.
	rows := []string{
		"turnkeel.CallModel • step 1",
		`tool.lookup_order • lookup_order {"order":"A-1001"}` + key(0),
		`tool.lookup_order • lookup_order {"order":"A-1002"}` + key(1),
		"turnkeel.CallModel • step 2 · openai/scripted",
		"the approval of charge_card expires",
		`tool.charge_card • charge_card {"amount":42}` + key(2),
		"turnkeel.CallModel • step 3 · openai/scripted",
		`tool.send_receipt • send_receipt {"to":"ann@example.com"}` + key(3),
		"turnkeel.CallModel • step 4 · openai/scripted",
	}
	ui.see(pageOf(t, out.Turn, "timeline"), append(slices.Clone(rows), "Charge Ann's card", out.Result.Text)...)
	if diff := cmp.Diff(rows, ui.markdown()); diff != "" {
		t.Errorf("the timeline's rows, want (-) and got (+):\n%s", diff)
	}
	ui.keep("webui-completed", "Timeline", 375)
	ui.see(pageOf(t, out.Turn, "history"),
		"Activity Task Failed", "send_receipt failed: the mailbox of ann@example.com is full", // the tool's own words
		"Workflow Execution Update Accepted", "decide")
	ui.see(pageOf(t, out.Turn, "search-attributes"), `"TurnkeelPending": 0`, `"TurnkeelStatus": "completed"`)
}
