package tooldefs

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"
)

const (
	// askTimeout bounds one question to a function of a tool's author. They are
	// asked while a model's answer is planned: one that blocked there would cost
	// the answer, and the model would be asked, and paid, again.
	askTimeout = 2 * time.Second

	// maxStuck is how many questions of one tool may be without an answer; after
	// that none is asked until one of them returns.
	maxStuck = 4
)

var (
	errNoAnswer = fmt.Errorf("internal error: no answer within %s", askTimeout)
	errGone     = errors.New("internal error: the goroutine was ended")
)

// ask asks a function of the tool's author, in a goroutine of its own: a panic,
// [runtime.Goexit] and silence are errors, and none of them reaches the caller.
// A function that never returns keeps its goroutine.
func ask[T any](stuck *atomic.Int32, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if stuck.Add(1) > maxStuck {
		stuck.Add(-1)
		return none, errNoAnswer
	}
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errGone}
		defer func() {
			stuck.Add(-1)
			done <- a
		}()
		a.err = guard(func() (err error) { a.value, err = f(); return err })
	}()
	timer := time.NewTimer(askTimeout)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.value, a.err
	case <-timer.C:
		return none, errNoAnswer
	}
}

// guard turns a panic of an author's function into an error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %s", panicText(r))
		}
	}()
	return f()
}

// panicText words a panic's value, whose own methods may panic again. A value
// that is neither an error nor plain is not printed: fmt follows a map that
// contains itself until the process dies.
func panicText(r any) (text string) {
	defer func() {
		if recover() != nil {
			text = "unprintable"
		}
	}()
	switch v := r.(type) {
	case error:
		return clip(v.Error(), 500)
	case fmt.Stringer:
		return clip(v.String(), 500)
	}
	switch k := reflect.ValueOf(r).Kind(); {
	case k == reflect.String, reflect.Bool <= k && k <= reflect.Complex128:
		return clip(fmt.Sprint(r), 500)
	}
	return fmt.Sprintf("a value of type %T", r)
}
