package webui

import (
	"os"
	"testing"
	"time"
	"context"
	"errors"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/tooldefs"
)

type orderInput struct {
	Order string `json:"order"`
}
type chargeInput struct {
	Amount int `json:"amount"`
}
type receiptInput struct {
	To string `json:"to"`
}

func shopTools() []*tooldefs.Tool {
	return []*tooldefs.Tool{
		tooldefs.Define(tooldefs.Spec[orderInput, string]{
			Name: "lookup_order", Description: "Looks an order up.", Effects: tooldefs.None, ParallelSafe: tooldefs.Always,
			Handler: func(context.Context, *tooldefs.Call, orderInput) (string, error) { return "42 EUR, unpaid", nil },
		}),
		tooldefs.Define(tooldefs.Spec[chargeInput, string]{
			Name: "charge_card", Description: "Charges the card.", Approval: tooldefs.Always, ApprovalTimeout: 24 * time.Hour,
			Handler: func(context.Context, *tooldefs.Call, chargeInput) (string, error) { return "charged", nil },
		}),
		tooldefs.Define(tooldefs.Spec[receiptInput, string]{
			Name: "send_receipt", Description: "Mails a receipt.",
			Handler: func(context.Context, *tooldefs.Call, receiptInput) (string, error) {
				return "", errors.New("the mailbox of ann@example.com is full")
			},
		}),
	}
}

func TestTurn(t *testing.T) {
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: shopTools(), Script: agenttest.Script{Steps: []agenttest.Step{
		{Text: "Let me look.", Calls: []agenttest.ScriptCall{
			{Name: "lookup_order", Args: map[string]any{"order": "A-1001"}}, {Name: "lookup_order", Args: map[string]any{"order": "A-1002"}}}},
		{Calls: []agenttest.ScriptCall{{Name: "charge_card", Args: map[string]any{"amount": 42}}}},
		{Calls: []agenttest.ScriptCall{{Name: "send_receipt", Args: map[string]any{"to": "ann@example.com"}}}},
		{Text: "Ann's card was charged 42 EUR; her receipt could not be sent, since her mailbox is full."},
	}}})
	turn := b.Start("Charge Ann's card for order A-1001, and send her a receipt.")
	br := newBrowser(t)
	for {
		st, err := b.Turns.Status(t.Context(), turn.ID)
		if err == nil && len(st.Pending) == 1 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, p := range []string{"history", "timeline", "history?view=compact","user-metadata", "search-attributes", "metadata", "relationships"} {
	br.open(server.UI + "/namespaces/default/workflows/" + turn.ID + "/" + turn.RunID + "/" + p)
	time.Sleep(5 * time.Second)
	os.WriteFile("/tmp/p-"+p+".png", br.picture(), 0o644)
	var text string
	br.eval("return location.href + '\\n' + document.body.innerText", &text)
	t.Log(p, text)
	}
}
