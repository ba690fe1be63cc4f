package tooldefs_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// bank stands in for a service that can be asked by key.
type bank map[string]string

var errClosed = errors.New("the bank is closed")

func (b bank) find(key string) (id string, found bool, err error) {
	if b == nil {
		return "", false, errClosed
	}
	id, found = b[key]
	return id, found, nil
}

func transferTool(b bank) *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[refundIn, refundOut]{
		Name: "transfer", Description: "Transfers money.", // AtMostOnce: never sent twice
		Approval:  func(in refundIn) bool { return in.Cents > 10_000 },
		OnUnknown: tooldefs.AskHuman,
		Handler: func(context.Context, *tooldefs.Call, refundIn) (refundOut, error) {
			return refundOut{}, tooldefs.Unknown(errors.New("the connection broke"))
		},
		Reconcile: func(_ context.Context, call *tooldefs.Call, _ refundIn) (tooldefs.Reconciled[refundOut], error) {
			id, found, err := b.find(call.IdempotencyKey())
			switch {
			case err != nil:
				return tooldefs.CannotTell[refundOut](err.Error()), nil
			case !found:
				return tooldefs.DidNotHappen[refundOut](), nil
			}
			return tooldefs.Happened(refundOut{RefundID: id}), nil
		},
	})
}

func ExampleTool_Reconcile() {
	const args = `{"cents":250,"order_id":"o_1","reason":"late"}`
	for _, b := range []bank{{"k1": "r_7"}, {}, nil} {
		call := tooldefs.NewCall(tooldefs.CallInfo{Key: "k1"})
		got := transferTool(b).Reconcile(context.Background(), call, args)
		fmt.Printf("%s (%s%s)\n", got.Verdict, got.JSON, got.Note)
	}
	// Output:
	// happened ({"refund_id":"r_7"})
	// did_not_happen ()
	// cannot_tell (the bank is closed)
}

func ExampleTool_ApprovalNeeded() {
	tool := transferTool(nil)
	for _, args := range []string{`{"order_id":"o_1","cents":250}`, `{"order_id":"o_1","cents":25000}`} {
		needed, reason, err := tool.ApprovalNeeded(tool.Check(args).Canonical)
		fmt.Printf("%v %q %v\n", needed, reason, err)
	}
	// Output:
	// false "" <nil>
	// true "the tool asks for approval" <nil>
}
