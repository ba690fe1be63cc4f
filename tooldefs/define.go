package tooldefs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
)

// Define makes a typed tool. It panics with a [*DefinitionError] on a mistake
// of the programmer: a bad name, no description, no handler, a type that has
// no schema or cannot be marshalled, a tag without effect, settings that
// contradict each other.
func Define[In, Out any](spec Spec[In, Out]) *Tool {
	return must(define(spec, caller()))
}

func must(t *Tool, err error) *Tool {
	if err != nil {
		panic(err)
	}
	return t
}

// caller says where Define was called, for messages about the tool.
func caller() string {
	_, file, line, ok := runtime.Caller(2)
	if !ok {
		return "unknown place"
	}
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

func define[In, Out any](spec Spec[In, Out], origin string) (*Tool, error) {
	set := spec.settings()
	set.origin = origin
	fail := func(err error) (*Tool, error) {
		return nil, &DefinitionError{Tool: spec.Name, Mistake: err}
	}
	if err := set.check(); err != nil {
		return fail(err)
	}
	if spec.Handler == nil {
		return fail(errors.New("it has no handler"))
	}
	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	if err := checkDecodable(in); err != nil {
		return fail(fmt.Errorf("input %s: %w", in, err))
	}
	input, warnings, err := inferInput(in)
	if err != nil {
		return fail(fmt.Errorf("input %s: %w", in, err))
	}
	if err := checkMarshallable(out); err != nil {
		return fail(fmt.Errorf("output %s: %w", out, err))
	}
	output, more, err := spec.Output.compile(out)
	if err != nil {
		return fail(fmt.Errorf("output %s: %w", out, err))
	}
	t := &Tool{set: set, input: input, output: output, warnings: append(warnings, more...)}
	decoder := newDecoder[In]()
	decode := decoder.decode
	t.decodesItself = decoder.exact.anyItself()
	t.fits = func(args string, value any) error {
		_, err := decoder.decodeValue(args, value)
		return err
	}
	if t.approval, err = approvalPredicate(spec.Approval, decode); err != nil {
		return fail(err)
	}
	t.reconcile = reconciler(spec.Reconcile, decode)
	bind(t, spec, decode)
	return t, nil
}

// bind closes over the types of the spec.
func bind[In, Out any](t *Tool, spec Spec[In, Out], decode func(args string) (In, error)) {
	t.run = func(ctx context.Context, call *Call, args string) (any, error) {
		in, err := decode(args)
		if err != nil {
			return nil, NotExecuted(&ArgumentsError{Tool: t.set.name, Problem: err.Error()})
		}
		return spec.Handler(ctx, call, in)
	}
	t.recovery = func(handlerErr error, args string) (any, bool) {
		if spec.OnError == nil {
			return nil, false
		}
		in, err := decode(args)
		if err != nil {
			return nil, false
		}
		return spec.OnError(handlerErr, in)
	}
	if spec.IdempotencyKey != nil {
		t.key = func(args string) (string, error) {
			in, err := decode(args)
			if err != nil {
				return "", err
			}
			return spec.IdempotencyKey(in), nil
		}
	}
	if spec.Summary != nil {
		t.summary = func(args string) string {
			in, err := decode(args)
			if err != nil {
				return ""
			}
			return spec.Summary(in)
		}
	}
}
