package tooldefs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/turnkeel/turnkeel/tooldefs"
)

type refundIn struct {
	OrderID string `json:"order_id" jsonschema:"description=The order to refund,pattern=^o_[0-9]+$"`
	Cents   int64  `json:"cents" jsonschema:"minimum=1"`
	Reason  string `json:"reason,omitempty" jsonschema:"enum=damaged,enum=late,default=damaged"`
}

type refundOut struct {
	RefundID string `json:"refund_id"`
}

func refundTool() *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[refundIn, refundOut]{
		Name:        "refund",
		Description: "Refunds an order to the original means of payment.",
		Class:       tooldefs.Keyed,
		Handler: func(_ context.Context, call *tooldefs.Call, in refundIn) (refundOut, error) {
			// A real one hands call.IdempotencyKey() to the payment service.
			return refundOut{RefundID: "r_" + in.OrderID + "_" + in.Reason}, nil
		},
	})
}

func ExampleDefine() {
	refund := refundTool()
	fmt.Println(refund.Name(), refund.Class(), refund.Effects(), refund.MaxAttempts(), refund.Timeout())
	fmt.Println(refund.InputSchema())
	// Output:
	// refund keyed external 3 1m0s
	// {"additionalProperties":false,"properties":{"cents":{"minimum":1,"type":"integer"},"order_id":{"description":"The order to refund","pattern":"^o_[0-9]+$","type":"string"},"reason":{"default":"damaged","enum":["damaged","late"],"type":"string"}},"required":["order_id","cents"],"type":"object"}
}

func ExampleTool_Check() {
	refund := refundTool()
	fmt.Println(refund.Check(`{"order_id": "o_1", "cents": 250.0, "reason": null}`).Canonical)
	fmt.Println(refund.Check(`{"order_id": "1", "cents": 0}`).Problem)
	// Output:
	// {"cents":250,"order_id":"o_1","reason":"damaged"}
	// error: refund was not executed: invalid arguments
	// - cents: must be at least 1
	// - order_id: must match the pattern ^o_[0-9]+$
}

func ExampleSet_Call() {
	set, err := tooldefs.NewSet(refundTool())
	if err != nil {
		panic(err)
	}
	result, err := set.Call(context.Background(), "refund", `{"order_id":"o_1","cents":250}`)
	fmt.Println(string(result.JSON), err)
	_, err = set.Call(context.Background(), "refnud", `{}`)
	fmt.Println(err)
	// Output:
	// {"refund_id":"r_o_1_damaged"} <nil>
	// unknown tool "refnud"; valid tools: refund
}

func ExampleSet_CallWith() {
	set, _ := tooldefs.NewSet(tooldefs.Define(tooldefs.Spec[struct{}, string]{
		Name: "whoami", Description: "Says whose turn it is.", Effects: tooldefs.None, Env: []string{"REGION"},
		Handler: func(_ context.Context, call *tooldefs.Call, _ struct{}) (string, error) {
			return call.SessionID() + " in " + call.Env("REGION"), nil
		},
	}))
	result, err := set.CallWith(context.Background(), tooldefs.CallInfo{
		Session: "alice",
		Env:     func(string) (string, bool) { return "eu", true },
	}, "whoami", "")
	fmt.Println(result.Text, err)
	// Output: alice in eu <nil>
}

func ExampleWrap() {
	search, err := tooldefs.Wrap(tooldefs.WrapSpec{
		Name: "search", Description: "Searches the wiki.", Effects: tooldefs.None,
		Schema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`),
		Invoke: func(_ context.Context, _ *tooldefs.Call, args json.RawMessage) (any, error) {
			return "you asked " + string(args), nil
		},
	})
	if err != nil {
		panic(err)
	}
	set, _ := tooldefs.NewSet(search)
	result, _ := set.Call(context.Background(), "search", `{"q":"leave"}`)
	fmt.Println(result.Text)

	_, err = tooldefs.Wrap(tooldefs.WrapSpec{
		Name: "evil", Description: "d", Schema: json.RawMessage(`{"$ref":"http://169.254.169.254/"}`),
		Invoke: func(context.Context, *tooldefs.Call, json.RawMessage) (any, error) { return nil, nil },
	})
	fmt.Println(err)
	// Output:
	// you asked {"q":"leave"}
	// tooldefs: tool "evil": input: a $ref outside of the schema is not allowed
}

func ExampleDefineStream() {
	type in struct {
		To int `json:"to"`
	}
	count := tooldefs.DefineStream(tooldefs.Spec[in, []int]{Name: "count", Description: "Counts.", Effects: tooldefs.None},
		func(_ context.Context, _ *tooldefs.Call, in in) iter.Seq2[int, error] {
			return func(yield func(int, error) bool) {
				for i := 1; i <= in.To && yield(i, nil); i++ {
				}
			}
		})
	set, _ := tooldefs.NewSet(count)
	result, _ := set.CallWith(context.Background(), tooldefs.CallInfo{
		Progress: func(data json.RawMessage) { fmt.Println("progress", string(data)) },
	}, "count", `{"to":2}`)
	fmt.Println(string(result.JSON))
	// Output:
	// progress 1
	// progress 2
	// [1,2]
}

func ExampleTool_Judge() {
	refund := refundTool()
	for _, err := range []error{
		errors.New("the order was already refunded"),
		tooldefs.Unknown(errors.New("connection reset")),
		tooldefs.NotExecuted(errors.New("the service is closed on Sundays")),
		tooldefs.Transient(errors.New("rate limited"), time.Second),
		tooldefs.Public("the payment service is down", errors.New("dial 10.0.0.7: refused")),
	} {
		v := refund.Judge(err)
		fmt.Println(v.Outcome, v.Retry, v.Text)
	}
	// Output:
	// failed false error: refund failed: the order was already refunded
	// unknown false error: the outcome of refund is unknown: connection reset; it may or may not have taken effect and was not repeated
	// not_executed false error: refund was not executed: the service is closed on Sundays
	// failed true error: refund failed: rate limited
	// failed false error: refund failed: the payment service is down
}
