package lineage

import (
	"strconv"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
)

// Call is a call that asks what is known of it.
type Call struct {
	ActivityID string
	Namespace  string
	Tool       string
	Input      contract.ToolInput
}

// Verdict is what is to be done with a call.
type Verdict string

// The verdicts.
const (
	VerdictRun     Verdict = "run"     // nothing stands against it
	VerdictDone    Verdict = "done"    // Find.Result is its result
	VerdictFailed  Verdict = "failed"  // Find.Kind and Find.Text are its failure
	VerdictUnknown Verdict = "unknown" // it may have taken effect: never run again
)

// Answer is a verdict and what it rests on; Find is empty for [VerdictRun] and
// for a doubt.
type Answer struct {
	Verdict Verdict
	Find    Find
}

// Call merges what the lineage says of a call:
//
//	                                AtMostOnce   Keyed     SafeToRetry
//	completed anywhere              its result   result    result, but NoReplay runs
//	failed by its own word          failure      failure   failure, but NoReplay runs
//	failed here, unknown there      unknown      runs      failure
//	unknown or without an outcome   unknown      runs      runs
//	certainly not executed          runs         runs      runs
//	not found                       runs         runs      runs
//	not found, lookup incomplete    unknown      runs      runs
//
// ToolInput.Cleared takes away the unknowns that its verdict was about.
func (x *Index) Call(c Call) Answer {
	class := c.Input.Class
	if class == contract.ClassSafeToRetry && c.Input.NoReplay {
		return Answer{Verdict: VerdictRun}
	}
	finds := x.finds[c.Input.Key]
	shared := len(finds) > 0 && x.shared(c)
	failed, unknown := Find{}, Find{}
	for _, f := range finds {
		switch {
		case f.Outcome == contract.OutcomeDone && !shared:
			return Answer{VerdictDone, f}
		case f.Kind != "" && (!shared || place(f.ActivityID) == place(c.ActivityID)):
			failed = f
		case f.Outcome == contract.OutcomeUnknown && !c.clears(f) && unknown.Text == "":
			unknown = f
		}
	}
	if shared && failed.ActivityID == "" { // a call of another place may share its result
		for _, f := range finds {
			if f.Outcome == contract.OutcomeDone {
				return Answer{VerdictDone, f}
			}
		}
	}
	return x.open(class, c, failed, unknown)
}

// open decides on a call that no run has completed.
func (x *Index) open(class contract.Class, c Call, failed, unknown Find) Answer {
	once := class == contract.ClassAtMostOnce
	switch {
	case unknown.ActivityID != "" && once:
		return Answer{VerdictUnknown, unknown}
	case x.doubt != nil && once && c.Input.Cleared == "":
		return Answer{Verdict: VerdictUnknown}
	case failed.ActivityID != "" && (unknown.ActivityID == "" || class == contract.ClassSafeToRetry):
		return Answer{VerdictFailed, failed}
	default:
		return Answer{Verdict: VerdictRun}
	}
}

// shared says that the key is an override: several calls of a turn have it,
// and one that failed may be tried again under it. Such a failure is only that
// call's own. A derived key is one call's and is found by counting.
func (x *Index) shared(c Call) bool {
	scope := x.scope
	scope.Namespace = c.Namespace
	for n := range x.calls + 1 {
		if effect.Key(scope, c.Tool, c.Input.Args, n) == c.Input.Key {
			return false
		}
	}
	return true
}

// clears says that the verdict which cleared the call was about the find. One
// that was itself started after such a verdict came later, unless it is an
// earlier start of this same call.
func (c Call) clears(f Find) bool {
	if c.Input.Cleared == "" {
		return false
	}
	return !f.Cleared || place(f.ActivityID) == place(c.ActivityID) && again(f.ActivityID) < again(c.ActivityID)
}

// place is the call of an activity id, whichever of its starts it is:
// "s3.c7.r1" is at "s3.c7".
func place(activityID string) string {
	base, _, _ := strings.Cut(activityID, ".r")
	return base
}

// again is which of a call's starts an activity id is, from 0.
func again(activityID string) int {
	_, n, _ := strings.Cut(activityID, ".r")
	i, _ := strconv.Atoi(n)
	return i
}
