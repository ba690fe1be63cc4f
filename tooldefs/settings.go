package tooldefs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turnkeel/turnkeel/contract"
)

// What a definition may ask for. Beyond it the numbers no longer fit what
// Temporal counts in, or its server refuses the call, for ever.
const (
	maxTimeout     = 10 * 365 * 24 * time.Hour
	maxMaxAttempts = 1_000
	maxTaskQueue   = 1_000 // bytes
)

// settings is what every kind of definition says, with the defaults resolved
// by check.
type settings struct {
	name, description string

	effects         Effects
	class           Class
	parallelSafe    func(string) bool
	maxConcurrency  int
	timeout         time.Duration
	maxAttempts     int
	uninterruptible bool
	noReplay        bool
	approvalTimeout time.Duration
	approvers       []string
	onUnknown       OnUnknown
	reconciles      bool
	keyScope        KeyScope
	poller          bool
	taskQueue       string
	env             []string
	pin             string
	origin          string
}

// DefinitionError is a mistake in a tool's definition. [Define] panics with
// it, [Wrap] returns it.
type DefinitionError struct {
	Tool    string // as far as it has a name
	Mistake error
}

func (e *DefinitionError) Error() string {
	return fmt.Sprintf("tooldefs: tool %q: %v", e.Tool, e.Mistake)
}

// Unwrap gives the mistake.
func (e *DefinitionError) Unwrap() error { return e.Mistake }

func validName(name string) bool {
	const legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(legal, r) })
}

// check resolves the defaults and finds the mistakes.
func (s *settings) check() error {
	if s.name == "" {
		return errors.New("it has no name")
	}
	if !validName(s.name) {
		return errors.New("the name must match ^[A-Za-z0-9_-]{1,64}$")
	}
	if strings.TrimSpace(s.description) == "" {
		return errors.New("it has no description")
	}
	if s.effects == "" {
		s.effects = External
	}
	if !slices.Contains([]Effects{External, Sandbox, None}, s.effects) {
		return fmt.Errorf("unknown effects %q", s.effects)
	}
	s.class = s.class.Resolve(s.effects)
	switch {
	case s.maxConcurrency < 0:
		return errors.New("MaxConcurrency is negative")
	case s.timeout < 0:
		return errors.New("Timeout is negative")
	case s.timeout > maxTimeout:
		return fmt.Errorf("Timeout is longer than %s", maxTimeout)
	case s.maxAttempts < 0:
		return errors.New("MaxAttempts is negative")
	case s.maxAttempts > maxMaxAttempts:
		return fmt.Errorf("MaxAttempts is above %d", maxMaxAttempts)
	case s.approvalTimeout < 0:
		return errors.New("ApprovalTimeout is negative")
	case s.approvalTimeout > maxTimeout:
		return fmt.Errorf("ApprovalTimeout is longer than %s; zero waits for ever", maxTimeout)
	case len(s.taskQueue) > maxTaskQueue || !utf8.ValidString(s.taskQueue) || strings.HasPrefix(s.taskQueue, "/_sys/"):
		return errors.New("the TaskQueue is not a name that the server takes")
	case slices.ContainsFunc(s.env, func(name string) bool { return name == "" || strings.ContainsAny(name, "=\x00") }):
		return errors.New("one of the names in Env is not a variable's name")
	case slices.ContainsFunc(s.approvers, func(who string) bool { return strings.TrimSpace(who) == "" }):
		return errors.New("one of the Approvers has no name")
	}
	if s.timeout == 0 {
		s.timeout = DefaultTimeout
	}
	return s.checkClass()
}

func (s *settings) checkClass() error {
	attempts := 0
	switch s.class {
	case contract.ClassAtMostOnce:
		if attempts = 1; s.maxAttempts > 1 {
			return errors.New("MaxAttempts above 1 contradicts the class AtMostOnce")
		}
	case contract.ClassKeyed:
		attempts = DefaultMaxAttemptsKeyed
	case contract.ClassSafeToRetry:
		attempts = DefaultMaxAttemptsSafeToRetry
	default:
		return fmt.Errorf("unknown class %q", s.class)
	}
	if s.maxAttempts == 0 {
		s.maxAttempts = attempts
	}
	if s.noReplay && s.class != SafeToRetry {
		return errors.New("NoReplay needs the class SafeToRetry")
	}
	if err := s.checkUnknown(); err != nil {
		return err
	}
	switch s.keyScope {
	case KeyScopeTurn:
	case KeyScopeSession, KeyScopeNamespace:
		if s.class != Keyed {
			return errors.New("a KeyScope beyond the turn needs the class Keyed")
		}
	default:
		return fmt.Errorf("unknown KeyScope %q", s.keyScope)
	}
	return nil
}

// checkUnknown finds what contradicts a class whose outcome is never unknown.
func (s *settings) checkUnknown() error {
	if !slices.Contains([]OnUnknown{TellModel, AskHuman}, s.onUnknown) {
		return fmt.Errorf("unknown OnUnknown %q", s.onUnknown)
	}
	if s.class != SafeToRetry {
		return nil
	}
	if s.onUnknown == AskHuman {
		return errors.New("OnUnknown AskHuman contradicts the class SafeToRetry, whose outcome is never unknown")
	}
	if s.reconciles {
		return errors.New("Reconcile contradicts the class SafeToRetry, whose outcome is never unknown")
	}
	return nil
}
