package contract

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The texts the model is shown in place of, or around, a tool's result. They
// are part of the contract: models are steered by them, so each one says what
// happened and whether the effect may have taken place. All are valid UTF-8
// and bounded.

// MaxErrorText bounds the text of one error, in runes.
const MaxErrorText = 2_000

// TextToolError is a handler's error.
func TextToolError(tool, message string) string {
	return "error: " + tool + " failed: " + BoundText(message, MaxErrorText)
}

// TextTimedOut is a call that ran out of its time.
func TextTimedOut(tool string, after Duration, class Class) string {
	text := fmt.Sprintf("error: tool %s timed out after %s", tool, after)
	if class != ClassSafeToRetry {
		text += "; it may or may not have taken effect"
	}
	return text
}

// TextUnknown is a call whose outcome is unknown.
func TextUnknown(tool, why string) string {
	return "error: the outcome of " + tool + " is unknown: " + BoundText(why, MaxErrorText) +
		"; it may or may not have taken effect and was not repeated"
}

// TextGaveUp is a call that was started as often as it may.
func TextGaveUp(tool string, attempts int, class Class) string {
	text := fmt.Sprintf("error: tool %s gave up after %d attempts", tool, attempts)
	if class != ClassSafeToRetry {
		text += ": it may or may not have taken effect"
	}
	return text
}

// TextNotRepeated refuses a call whose earlier attempt is unknown.
func TextNotRepeated(tool string) string {
	return "error: " + tool + ": earlier attempt's outcome is unknown; not repeated"
}

// TextPolicyDenied is a call that the agent's policy denies.
func TextPolicyDenied(tool, reason string) string {
	return tool + " not allowed. reason: " + BoundText(reason, MaxErrorText)
}

// TextDenied is a call that a person denied.
func TextDenied(tool, by, comment string) string {
	text := "error: " + tool + " was not executed: " + BoundText(by, 200) + " denied it"
	if comment != "" {
		text += ": " + BoundText(comment, MaxErrorText)
	}
	return text
}

// TextDeniedBefore refuses a repeat of a call that a person denied.
func TextDeniedBefore(tool, by string) string {
	return "error: " + tool + " was not executed: " + BoundText(by, 200) + " denied this call before; it is not asked again in this turn"
}

// TextExpired is a call that nobody decided in time.
func TextExpired(tool string, after Duration) string {
	return "error: " + tool + " was not executed: nobody approved it within " + after.String()
}

// TextResolved is a call that a person says happened.
func TextResolved(tool, by, value string) string {
	text := tool + " took effect, as " + BoundText(by, 200) + " confirmed"
	if value != "" {
		text += ": " + BoundText(value, MaxErrorText)
	}
	return text
}

// TextDidNotHappen is a call that certainly did nothing after all.
func TextDidNotHappen(tool, by string) string {
	return "error: " + tool + " was not executed: " + BoundText(by, 200) + " confirmed that it did not take effect"
}

// TextNotExecuted is a call that certainly did nothing.
func TextNotExecuted(tool, why string) string {
	return "error: " + tool + " was not executed: " + BoundText(why, MaxErrorText)
}

// TextInterrupted is a call that was cut while it ran.
func TextInterrupted(tool string) string {
	return "error: " + tool + " was interrupted while it ran; it may have taken effect"
}

// TextNotStarted is a call the turn ended before.
func TextNotStarted(tool string) string {
	return "error: " + tool + " was not started: the turn ended first"
}

// TextUnknownTool is a call of a name that is no tool.
func TextUnknownTool(name string, valid []string) string {
	list := "none"
	if len(valid) > 0 {
		list = BoundText(strings.Join(valid, ", "), MaxErrorText)
	}
	return fmt.Sprintf("error: unknown tool %q. valid tools: %s", BoundText(name, 100), list)
}

// TextArguments is a call whose arguments were refused; the problem may have
// several lines.
func TextArguments(tool, problem string) string {
	return "error: " + tool + " was not executed: invalid arguments\n- " + BoundText(problem, MaxErrorText)
}

// TextInvalidResult is a call that ran and whose result cannot be used.
func TextInvalidResult(tool, problem string) string {
	return "error: " + tool + " ran, but its result is not valid: " + BoundText(problem, MaxErrorText)
}

// TextTooManyCalls is a call beyond the step's cap.
func TextTooManyCalls(limit int) string {
	return fmt.Sprintf("error: not executed: more than %d tool calls in one answer; ask again for what is still needed", limit)
}

// TextTruncatedCall is a call of an answer that was cut by its limit.
func TextTruncatedCall() string {
	return "error: not executed: your output hit its limit and the call may be incomplete; send less at once"
}

// TextLoopWarning is appended to a result that repeats.
func TextLoopWarning(times int) string {
	return fmt.Sprintf("note: this is the same call with the same result for the %d. time in a row; do something else or finish", times)
}

// TextWrapUp is the request for a last answer when a limit is reached.
func TextWrapUp(reason string) string {
	return "The limit of this turn is reached (" + BoundText(reason, 200) + "). No tool can be called any more: say in a final answer what was done, what was not, and what is unknown."
}

// ReaskPrefix begins every message that asks the model again: see [TextReask].
const ReaskPrefix = "Your last answer could not be used: "

// TextReask asks the model again. It is sent, never recorded.
func TextReask(why string) string {
	return ReaskPrefix + BoundText(why, MaxErrorText) +
		"\nNothing of it was executed. Answer again; call tools only in the format of the API, with arguments that are one JSON object."
}

// BoundText makes s valid UTF-8 and cuts its middle to at most max runes, head
// and tail kept, with a marker that states the sizes. NULs are dropped: JSON
// stores refuse them. It walks over s, which may be megabytes, and copies only
// what is kept, unless s has a NUL or is not valid.
func BoundText(s string, max int) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if len(s) <= max {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= max {
		return s
	}
	marker := fmt.Sprintf("\n[… cut: %d characters in all, %d shown; ask for less, or for a part …]\n", n, max)
	keep := max - utf8.RuneCountInString(marker)
	if keep < 2 {
		return strings.Clone(firstRunes(s, max))
	}
	head := keep * 2 / 3
	return firstRunes(s, head) + marker + lastRunes(s, keep-head)
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n <= 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func lastRunes(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[at:]
}
