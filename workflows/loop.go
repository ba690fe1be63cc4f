package workflows

import (
	"strconv"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
)

// Repeats of one call, or of two in turns, with the same arguments and the same
// result, in a row.
const (
	loopWarnAt = 3
	loopStopAt = 6
)

// loopWatch notices a model that repeats itself. Tools that poll are exempt
// by their own declaration.
type loopWatch struct {
	last   string // digest of the call and result seen last
	count  int
	before string // the one before it
	turns  int    // how many calls in a row were the one before the last again
	times  int    // how often the last call, or the last two in turns, came
	stuck  bool

	digests map[string]string // activity id → digest of its result; looked up only
}

// note keeps the digest of a result until the step's calls are seen.
func (l *loopWatch) note(id, digest string) {
	if digest == "" {
		return
	}
	if l.digests == nil {
		l.digests = map[string]string{}
	}
	l.digests[id] = digest
}

// see counts a call of the step, in source order, and puts a warning on its
// entry when it has come too often. twoCount says whether two calls in turns
// count: it is asked only where that matters.
func (l *loopWatch) see(c contract.PlannedCall, e *contract.Entry, twoCount func() bool) {
	if c.Run != nil && c.Run.Poller {
		return
	}
	result := e.Text
	if e.Ref != "" {
		result = l.digests[e.Ref]
		delete(l.digests, e.Ref)
	}
	args := c.Args
	if args == "" {
		args = c.Raw
	}
	seen := effect.Digest(c.ToolName(), args, string(e.Outcome), result)
	l.add(seen)
	l.times = l.count
	if twos := l.turns/2 + 1; twos >= loopWarnAt && twos > l.count && twoCount() {
		l.times = twos
	}
	l.stuck = l.times >= loopStopAt
	if l.times >= loopWarnAt {
		e.Note = contract.TextLoopWarning(l.times)
	}
}

// add counts one more call.
func (l *loopWatch) add(seen string) {
	switch seen {
	case l.last:
		l.count++
		l.turns = 0
	case l.before:
		l.count = 1
		l.turns++
	default:
		l.count, l.turns = 1, 0
	}
	l.before, l.last = l.last, seen
}

// why is the reason of a turn that ends for it.
func (l *loopWatch) why() string {
	what := "the same call"
	if l.times > l.count {
		what = "the same two calls in turns"
	}
	return what + " with the same result came " + strconv.Itoa(l.times) + " times in a row"
}

func (l *loopWatch) carry() contract.CarriedLoop {
	return contract.CarriedLoop{Last: l.last, Count: l.count, Before: l.before, Turns: l.turns}
}

func (l *loopWatch) restore(c contract.CarriedLoop) {
	l.last, l.count, l.before, l.turns = c.Last, c.Count, c.Before, c.Turns
}
