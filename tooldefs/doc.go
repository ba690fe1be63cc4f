// Package tooldefs is how a tool is written. It is worker-side and knows
// nothing of Temporal: a tool is a name, a description, an input struct and a
// function, and the runtime makes each call of it a recorded activity.
//
// # A first tool
//
//	type RefundIn struct {
//		OrderID string `json:"order_id" jsonschema:"description=The order to refund,pattern=^o_[0-9]+$"`
//		Cents   int64  `json:"cents" jsonschema:"minimum=1"`
//		Reason  string `json:"reason,omitempty" jsonschema:"enum=damaged,enum=late,default=damaged"`
//	}
//
//	type RefundOut struct {
//		RefundID string `json:"refund_id"`
//	}
//
//	var Refund = tooldefs.Define(tooldefs.Spec[RefundIn, RefundOut]{
//		Name:        "refund",
//		Description: "Refunds an order to the original means of payment.",
//		Class:       tooldefs.Keyed,
//		Handler: func(ctx context.Context, call *tooldefs.Call, in RefundIn) (RefundOut, error) {
//			id, err := payments.Refund(ctx, in.OrderID, in.Cents, call.IdempotencyKey())
//			return RefundOut{RefundID: id}, err
//		},
//	})
//
// The input schema is inferred from the struct. A field is required unless
// its json tag says omitempty or omitzero, or it has a default. The jsonschema
// tag takes description, title, enum (repeated), default, minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, multipleOf, pattern, format, minLength,
// maxLength, minItems, maxItems, uniqueItems=true, example, nullable and
// required; a comma inside a value is written "\\,", or the text goes into a
// jsonschema_description tag of its own. Structs, slices, maps and pointers
// nest. A tag that would have no effect is a mistake and [Define] panics.
//
// # What happens to a call
//
// The arguments of the model are parsed strictly, brought into one canonical
// text and validated before the handler runs ([Tool.Check]); the handler gets
// exactly that text, decoded ([Tool.Invoke]). What it returns is recorded as
// JSON, a string as text. An error is shown to the model and does not end the
// turn. A panic is an error whose stack only the log sees.
//
// # Effects and classes
//
// Say what a tool touches ([Effects]) and what may happen to a call whose
// outcome was lost ([Class], which holds the whole rule). The zero values are
// the careful ones: External, and for it AtMostOnce: such a call is never run
// again. Choose Keyed for a service that deduplicates by a key and hand it
// [Call.IdempotencyKey]; choose SafeToRetry, or Effects None, for reads.
//
// A call that is lost with its worker is noticed within seconds: the runtime
// sends a heartbeat for every running call, from before its handler starts. No
// handler has to.
//
// # When nobody knows what happened
//
// An outcome can stay unknown: the worker died, or the time was over, before
// the handler said anything. The model is told so; the call is not repeated,
// and neither is the model's own repeat of it unless the tool is Keyed. A tool
// can do better. Reconcile looks into the world by the call's key:
//
//	Reconcile: func(ctx context.Context, call *tooldefs.Call, in RefundIn) (tooldefs.Reconciled[RefundOut], error) {
//		id, found, err := payments.Find(ctx, call.IdempotencyKey())
//		switch {
//		case err != nil:
//			return tooldefs.CannotTell[RefundOut]("the bank does not answer"), err
//		case !found:
//			return tooldefs.DidNotHappen[RefundOut](), nil
//		}
//		return tooldefs.Happened(RefundOut{RefundID: id}), nil
//	},
//
// and OnUnknown set to [AskHuman] parks the call until a person settles it.
//
// # Approval
//
// Approval says which calls wait for a person: [Always], or a predicate over
// the validated arguments. The person sees the canonical arguments, and exactly
// those run. Policies and agents can ask for more, never for less.
//
// # Errors
//
// A plain error is taken at its word: it failed, nothing more will come of
// it. [Unknown] says that the effect may have happened, [NotExecuted] that it
// certainly did not, [Transient] that another attempt may work, and [Public]
// gives the model other words than the log. [Tool.Judge] is the whole rule.
//
// # Tools from elsewhere
//
// [Wrap] makes a tool from a foreign schema and an Invoke function, and
// returns an error where Define panics. [DefineStream] takes a handler that
// yields its result in pieces. [NewSet] puts tools together.
//
// # Testing a tool
//
// [Set.Call] runs a tool directly, through the same gates and under the same
// timeout, with no server. Package agenttest has a fake call with a key, an
// environment and a record of progress and log, for [Set.CallWith].
package tooldefs
