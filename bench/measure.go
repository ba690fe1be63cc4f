package main

import (
	"context"
	"sync"
	"syscall"
	"time"
)

// sides are the two runners, ours first.
type sides [2]runner

// The places in sides, and in every pair of values here.
const (
	ours = 0
	bare = 1
)

// order is which side goes first in a pair. It alternates, so that neither
// always runs on a server the other has just made busy.
func order(pair int) [2]int {
	if pair%2 == 0 {
		return [2]int{ours, bare}
	}
	return [2]int{bare, ours}
}

// timings are the milliseconds of both sides' turns, pair by pair.
type timings struct {
	ms   [2][]float64
	last [2][]ended // the last few turns, for their histories
}

// keptTurns is how many turns of each side have their histories compared.
const keptTurns = 21

// timePairs runs turns one at a time, a pair of ours and the twin's after the
// other. The warm-up pairs fill caches and connections and are not counted.
func timePairs(ctx context.Context, both sides, s shape, warmup, pairs int, tell func(done, all int)) (timings, error) {
	var t timings
	for pair := range warmup + pairs {
		for _, side := range order(pair) {
			turn, err := both[side](ctx, s)
			if err != nil {
				return t, err
			}
			if pair < warmup {
				continue
			}
			t.ms[side] = append(t.ms[side], float64(turn.took)/float64(time.Millisecond))
			t.last[side] = append(t.last[side], turn)
			if n := len(t.last[side]); n > keptTurns {
				t.last[side] = t.last[side][n-keptTurns:]
			}
		}
		tell(pair+1, warmup+pairs)
	}
	return t, nil
}

// rates are what both sides did in rounds under load.
type rates struct {
	perSecond [2][]float64
	cpuMS     [2][]float64 // of this process, per turn: workers, clients and the scripted model
}

// load is how a round of throughput runs.
type load struct {
	Rounds int `json:"rounds"`
	Turns  int `json:"turns_per_round"` // of each side
	AtOnce int `json:"at_once"`
}

// timeRounds runs rounds of many turns at once, ours and the twin's in turn.
// The first round of each is a warm-up.
func timeRounds(ctx context.Context, both sides, s shape, l load, tell func(done, all int)) (rates, error) {
	var r rates
	for round := range l.Rounds + 1 {
		for _, side := range order(round) {
			before, began := cpu(), time.Now()
			if err := flood(ctx, both[side], s, l); err != nil {
				return r, err
			}
			took, used := time.Since(began), cpu()-before
			if round == 0 {
				continue
			}
			r.perSecond[side] = append(r.perSecond[side], float64(l.Turns)/took.Seconds())
			r.cpuMS[side] = append(r.cpuMS[side], float64(used)/float64(time.Millisecond)/float64(l.Turns))
		}
		tell(round+1, l.Rounds+1)
	}
	return r, nil
}

// flood runs the round's turns with a fixed number of them under way, and
// ends with the first error.
func flood(ctx context.Context, run runner, s shape, l load) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tickets := make(chan struct{}, l.Turns)
	for range l.Turns {
		tickets <- struct{}{}
	}
	close(tickets)
	var group sync.WaitGroup
	for range min(l.AtOnce, l.Turns) {
		group.Go(func() {
			for range tickets {
				if ctx.Err() != nil {
					return
				}
				if _, err := run(ctx, s); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// cpu is the processor time this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
