package tooldefs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnkeel/turnkeel/internal/schema"
)

// WrapSpec defines a tool from a foreign schema. Name, Description, and
// Invoke are required. The fields that [Spec] has too mean the same; the
// functions get the canonical arguments as text.
type WrapSpec struct {
	Name        string
	Description string

	// Schema is the JSON Schema of the arguments, of any origin. Empty means
	// no properties of its own; an unsafe one is an error of [Wrap].
	Schema json.RawMessage

	// Output, if not empty, is a JSON Schema that results are validated
	// against.
	Output json.RawMessage

	// Invoke does the work on the canonical arguments.
	Invoke func(ctx context.Context, call *Call, args json.RawMessage) (any, error)

	// TransformArgs maps the model's arguments, one strictly parsed JSON
	// object, before they are validated and recorded. What it returns is what
	// a human approves and Invoke gets. An error is shown to the model; a panic,
	// and no answer within two seconds, are told as an internal error.
	TransformArgs func(args string) (string, error)

	// ToResult maps what Invoke returned before it is recorded.
	ToResult func(value any) (any, error)

	Effects         Effects
	Class           Class
	ParallelSafe    func(rawArgs string) bool
	MaxConcurrency  int
	Timeout         time.Duration
	MaxAttempts     int
	Uninterruptible bool
	NoReplay        bool
	OnError         func(err error, args string) (value any, ok bool)
	Approval        func(args string) bool
	ApprovalTimeout time.Duration
	Approvers       []string
	OnUnknown       OnUnknown
	Reconcile       func(ctx context.Context, call *Call, args json.RawMessage) (Reconciled[any], error)
	IdempotencyKey  func(args string) string
	KeyScope        KeyScope
	Poller          bool
	TaskQueue       string
	Summary         func(args string) string
	Env             []string

	// Pin names what else a planned call relies on: the wording of a foreign
	// definition, for example. It is part of [Tool.ExecutionDigest], so a call
	// that was planned with another Pin does not run.
	Pin string

	// Warnings are what a person should know at start: see [Tool.Warnings].
	Warnings []string

	// Origin says where the tool comes from, for messages to people. If empty,
	// the place of the call of Wrap.
	Origin string
}

func (s WrapSpec) settings(origin string) settings {
	if s.Origin != "" {
		origin = s.Origin
	}
	return settings{
		name: s.Name, description: s.Description,
		effects: s.Effects, class: s.Class,
		parallelSafe: s.ParallelSafe, maxConcurrency: s.MaxConcurrency,
		timeout: s.Timeout, maxAttempts: s.MaxAttempts,
		uninterruptible: s.Uninterruptible, noReplay: s.NoReplay,
		approvalTimeout: s.ApprovalTimeout, approvers: s.Approvers,
		onUnknown: s.OnUnknown, reconciles: s.Reconcile != nil,
		keyScope: s.KeyScope, poller: s.Poller, taskQueue: s.TaskQueue, env: s.Env,
		pin: s.Pin, origin: origin,
	}
}

// Wrap makes a tool from a foreign schema and an Invoke function. It returns
// a [*DefinitionError] instead of panicking, so that one bad tool of a server
// does not take the others down.
func Wrap(spec WrapSpec) (*Tool, error) {
	set := spec.settings(caller())
	fail := func(err error) (*Tool, error) {
		return nil, &DefinitionError{Tool: clip(spec.Name, 100), Mistake: err}
	}
	if err := set.check(); err != nil {
		return fail(err)
	}
	if spec.Invoke == nil {
		return fail(errors.New("it has no Invoke"))
	}
	input, warnings, err := schema.CompileInput(spec.Schema)
	if err != nil {
		return fail(fmt.Errorf("input: %w", err))
	}
	warnings = append(slices.Clone(spec.Warnings), warnings...)
	t := &Tool{set: set, input: input, warnings: warnings, transform: spec.TransformArgs, summary: spec.Summary}
	if t.loose, _, err = schema.CompileInput(nil); err != nil {
		return fail(err)
	}
	if len(spec.Output) > 0 {
		output, more, err := schema.Compile(spec.Output)
		if err != nil {
			return fail(fmt.Errorf("output: %w", err))
		}
		t.output, t.warnings = output, append(t.warnings, more...)
	}
	t.fits = func(string, any) error { return nil }
	t.run = spec.run
	if spec.OnError != nil {
		t.recovery = spec.OnError
	}
	if spec.Approval != nil {
		t.approval = func(args string) (bool, error) { return spec.Approval(args), nil }
	}
	t.reconcile = wrapReconciler(spec.Reconcile)
	if spec.IdempotencyKey != nil {
		t.key = func(args string) (string, error) { return spec.IdempotencyKey(args), nil }
	}
	return t, nil
}

// run invokes and maps the result. What goes wrong in ToResult went wrong
// after the effect.
func (s WrapSpec) run(ctx context.Context, call *Call, args string) (any, error) {
	value, err := s.Invoke(ctx, call, json.RawMessage(args))
	if err != nil || s.ToResult == nil {
		return value, err
	}
	var mapped any
	if err := guard(func() (err error) { mapped, err = s.ToResult(value); return err }); err != nil {
		return nil, &ResultError{Tool: s.Name, Problem: clip(err.Error(), 500)}
	}
	return mapped, nil
}
