package agenttest

import (
	"context"
	"math/rand/v2"
	"time"
)

// crashMoment is when a worker process is ended.
type crashMoment string

// The moments.
const (
	crashAtEvent  crashMoment = "event"  // a turn has just recorded its n-th event
	crashAtStart  crashMoment = "start"  // a call's task is here, nothing has been done
	crashAtReturn crashMoment = "return" // a call has been made and is not recorded
	crashAtRandom crashMoment = "random"
)

// crashRound is the order of the moments, over and over.
var crashRound = [...]crashMoment{
	crashAtEvent, crashAtEvent, crashAtReturn, crashAtEvent, crashAtEvent,
	crashAtRandom, crashAtEvent, crashAtEvent, crashAtStart, crashAtEvent,
}

// crashOverdue is how long a moment is waited for before the process is ended
// anyway.
const crashOverdue = 5 * time.Second

// crashKill is a process that was ended.
type crashKill struct {
	moment crashMoment
	event  int64 // of crashAtEvent
}

// crashKiller ends processes.
type crashKiller struct {
	run    *crashRun
	random *rand.Rand
	event  int64 // the last one that was waited for
}

// kill ends processes, each of which is replaced at once, as often as the
// options say.
func (k *crashKiller) kill(ctx context.Context) error {
	for i := range k.run.o.Kills {
		jitter := 0.5 + k.random.Float64()
		select {
		case <-time.After(time.Duration(jitter * float64(k.run.o.Every))):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		done := k.at(ctx, crashRound[i%len(crashRound)])
		k.run.kills = append(k.run.kills, done)
		if faults := k.run.fleet.faults(); len(faults) > 0 {
			return faults[0]
		}
		if err := k.run.fleet.add(); err != nil {
			return err
		}
	}
	return nil
}

// at ends a process at such a moment, or at a random one where it does not come.
func (k *crashKiller) at(ctx context.Context, m crashMoment) crashKill {
	switch m {
	case crashAtEvent:
		return k.atEvent(ctx)
	case crashAtStart:
		return k.atPoint(m, crashBefore)
	case crashAtReturn:
		return k.atPoint(m, crashAfter)
	default:
		return k.now("", "")
	}
}

// now ends a process at once: one that works at the turn, if there is one.
func (k *crashKiller) now(turn, worker string) crashKill {
	if p := k.run.fleet.at(turn, worker, k.random); p != nil {
		p.signal(k.run.o.Signal)
	}
	return crashKill{moment: crashAtRandom}
}

// atEvent waits for any turn to record the next event in question and ends the
// process that works at it.
func (k *crashKiller) atEvent(ctx context.Context) crashKill {
	k.event++
	if last := k.run.shortest(); last > 0 && k.event > last {
		k.event = 1
	}
	select {
	case hit := <-k.run.watch.arm(k.event):
		k.now(hit.turn, hit.worker)
		return crashKill{crashAtEvent, k.event}
	case <-time.After(crashOverdue):
	case <-ctx.Done():
	}
	return k.now("", "")
}

// atPoint has a process end itself at its next call.
func (k *crashKiller) atPoint(m crashMoment, p crashPoint) crashKill {
	process := k.run.fleet.at("", "", k.random)
	if process == nil {
		return crashKill{moment: m}
	}
	process.doom(p)
	overdue := time.NewTimer(crashOverdue)
	defer overdue.Stop()
	select {
	case <-process.dying:
		return crashKill{moment: m}
	case <-overdue.C:
		process.signal(k.run.o.Signal)
		return crashKill{moment: crashAtRandom}
	}
}

// shortest is the length of the shortest history of a turn that has ended, 0
// before one has.
func (r *crashRun) shortest() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	var shortest int64
	for _, turn := range r.turns {
		if n := int64(len(turn.events)); turn.ended && turn.err == nil && (shortest == 0 || n < shortest) {
			shortest = n
		}
	}
	return shortest
}
