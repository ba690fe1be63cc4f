package workflows

import (
	"strconv"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
)

// Repeats of one call, with the same arguments and the same result, in a row.
const (
	loopWarnAt = 3
	loopStopAt = 6
)

// loopWatch notices a model that repeats itself. Tools that poll are exempt
// by their own declaration.
type loopWatch struct {
	last  string // digest of the call and result seen last
	count int
	stuck bool

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
// entry when it has come too often.
func (l *loopWatch) see(c contract.PlannedCall, e *contract.Entry) {
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
	if seen != l.last {
		l.last, l.count = seen, 0
	}
	l.count++
	l.stuck = l.count >= loopStopAt
	if l.count >= loopWarnAt {
		e.Note = contract.TextLoopWarning(l.count)
	}
}

func (l *loopWatch) times() string { return strconv.Itoa(l.count) }
