package tooldefs

import (
	"context"
	"errors"
	"iter"
)

// StreamHandler is a handler that yields its result in pieces. The iteration
// is stopped when ctx ends; an error that it yields ends it and fails the
// call.
type StreamHandler[In, Chunk any] func(ctx context.Context, call *Call, in In) iter.Seq2[Chunk, error]

// DefineStream makes a typed tool whose handler yields. Every chunk is shown
// as progress at once; the recorded result is the array of all chunks, and a
// replay shows no progress. The spec is that of a tool that returns the array;
// its Handler stays nil. It panics like [Define].
func DefineStream[In, Chunk any](spec Spec[In, []Chunk], handler StreamHandler[In, Chunk]) *Tool {
	origin := caller()
	if spec.Handler != nil {
		panic(&DefinitionError{Tool: spec.Name, Mistake: errors.New("a stream has no Handler of its own")})
	}
	if handler != nil {
		spec.Handler = collect(handler)
	}
	return must(define(spec, origin))
}

func collect[In, Chunk any](handler StreamHandler[In, Chunk]) Handler[In, []Chunk] {
	return func(ctx context.Context, call *Call, in In) ([]Chunk, error) {
		all := []Chunk{}
		seq := handler(ctx, call, in)
		if seq == nil {
			return all, nil
		}
		for chunk, err := range seq {
			if err != nil {
				return nil, err
			}
			call.Progress(chunk)
			all = append(all, chunk)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
		return all, nil
	}
}
