package agenttest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// A tool's own test needs no server.
func ExampleNewCall() {
	type in struct {
		Cents int `json:"cents" jsonschema:"minimum=1"`
	}
	refund := tooldefs.Define(tooldefs.Spec[in, string]{
		Name: "refund", Description: "Refunds.",
		Handler: func(_ context.Context, call *tooldefs.Call, in in) (string, error) {
			call.Progress("asking the bank")
			return fmt.Sprintf("%d cents under %s", in.Cents, call.IdempotencyKey()), nil
		},
	})

	test := func(t testing.TB) {
		call := agenttest.NewCall(t, agenttest.CallOptions{Key: "k1"})
		result, err := call.Run(refund, `{"cents": 250}`)
		fmt.Println(result.Text, err, call.Progress())
		_, err = call.Run(refund, `{"cents": 0}`)
		fmt.Println(err)
	}
	test(exampleT{})
	// Output:
	// 250 cents under k1 <nil> ["asking the bank"]
	// refund was not executed: invalid arguments
	// - cents: must be at least 1
}

// exampleT stands in for the *testing.T of a real test.
type exampleT struct{ testing.TB }

func (exampleT) Helper()                  {}
func (exampleT) Context() context.Context { return context.Background() }
