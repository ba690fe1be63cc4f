package agenttest

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/contract"
)

// Defaults of [CrashOptions].
const (
	DefaultCrashWorkers = 3
	DefaultCrashTurns   = 6
	DefaultCrashKills   = 20
	DefaultCrashEvery   = time.Second
)

// crashPatience is how long turns may go on after the last kill before the run
// is given up: longer than every attempt that a turn may have.
const crashPatience = 5 * time.Minute

// CrashOptions describe a run of [Crash].
type CrashOptions struct {
	// Script is what the model says in each turn. Required. The calls should
	// take some time, in the tool or in the service behind it: a call that is
	// over at once is hardly ever hit while it runs.
	Script Script

	// Ledger is what the service behind the tools has seen: every request that
	// arrived with the idempotency key it brought. It is asked once, at the end.
	// Required: the proof is the agreement of this list with the effect log.
	Ledger func() ([]Arrival, error)

	// Env are variables of the worker processes, "NAME=value" each, beside this
	// process's.
	Env []string

	// Message is the user's in each turn. If empty, "go".
	Message string

	// Agent is the agent, if the defaults do not do, as in [BenchOptions].
	Agent contract.Agent

	// Server is where it runs. If zero, a server of its own.
	Server Server

	// Workers is how many worker processes there are at a time, and Turns how
	// many turns: one that has ended is followed by the next, until the kills
	// are done. If zero, 3 and 6.
	Workers, Turns int

	// Kills is how often a worker process is ended, and Every how often in the
	// mean. A process is replaced at once. If zero, 20 and a second.
	Kills int
	Every time.Duration

	// Signal ends them. If zero, SIGKILL; SIGTERM is what a deploy sends.
	Signal syscall.Signal

	// StopTimeout is the workers': see [turnkeel.Options.StopTimeout].
	StopTimeout time.Duration

	// Seed decides the random part of the moments and of the choice of
	// processes. If zero, a random one; the report names it.
	Seed uint64

	// Disaster is what happens in place of the kills, once the first turns have
	// been started: an outage, an operator. New turns are started until it
	// returns; its error is a fault of the test.
	Disaster func(ctx context.Context, s *CrashScene) error
}

func (o CrashOptions) withDefaults() CrashOptions {
	if o.Message == "" {
		o.Message = "go"
	}
	if o.Workers == 0 {
		o.Workers = DefaultCrashWorkers
	}
	if o.Turns == 0 {
		o.Turns = DefaultCrashTurns
	}
	if o.Kills == 0 {
		o.Kills = DefaultCrashKills
	}
	if o.Every == 0 {
		o.Every = DefaultCrashEvery
	}
	if o.Signal == 0 {
		o.Signal = syscall.SIGKILL
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	return o
}

// Crash runs turns on worker processes that it kills again and again, and
// holds what the turns say of their calls against what arrived outside. It is
// the proof of a user's own tools: that their classes are chosen right, that
// the key reaches the service, that the service deduplicates by it.
//
// The workers are this test binary, started anew: TestMain must begin with
// [CrashWorker]. They are killed at every event of a turn's history one after
// the other, before the first and after the last instruction of a call, and at
// random instants. The test fails for each promise that is broken:
//
//   - every turn completes, and its history can be replayed;
//   - an AtMostOnce call arrives at most once, a Keyed one is applied at most once;
//   - what is said to be done has arrived, what is said not to have been
//     executed has not, and nothing arrived that no effect log knows;
//   - the ledger is that of the tools: it has arrivals, with their keys;
//   - the model is told of every unknown outcome.
//
// It asserts no time; the report tells how long it took until another worker
// went on.
func Crash(t *testing.T, o CrashOptions) CrashReport {
	t.Helper()
	if os.Getenv(crashEnv) != "" {
		t.Fatal("this process is a worker: begin TestMain with agenttest.CrashWorker")
	}
	if o.Ledger == nil {
		t.Fatal("CrashOptions.Ledger is required: without it nothing is proved")
	}
	o = o.withDefaults()
	t.Logf("crash run: seed %d", o.Seed)
	b := NewBench(t, BenchOptions{Script: o.Script, Server: o.Server, Agent: o.Agent, NoWorker: true})
	r := &crashRun{o: o, bench: b, fleet: newCrashFleet(o, b)}
	t.Cleanup(r.fleet.stop)
	err := r.run(t.Context())
	r.fleet.stop()
	report := r.report()
	if err != nil {
		report.problem(err.Error())
	}
	for _, problem := range report.Problems {
		t.Error(problem)
	}
	for _, out := range report.Outcomes {
		Replay(t, out.History)
	}
	return report
}

// CrashScene is what a [CrashOptions.Disaster] may touch.
type CrashScene struct {
	*Bench
	run *crashRun
}

// Open are the ids of the turns that have been started and have not ended.
func (s *CrashScene) Open() []string {
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	var ids []string
	for _, turn := range s.run.turns {
		if !turn.ended {
			ids = append(ids, turn.id)
		}
	}
	return ids
}

// KillWorker ends a worker process, that which has a call of the turn under way
// where there is one, and puts another in its place.
// Disasters that do it from several goroutines must not do so at once.
func (s *CrashScene) KillWorker(turn string) error {
	s.run.kills = append(s.run.kills, s.run.killer().now(turn, ""))
	return s.run.fleet.add()
}

// crashRun is one run of [Crash].
type crashRun struct {
	o     CrashOptions
	bench *Bench
	fleet *crashFleet
	watch crashWatch
	kills []crashKill // read once the disaster is over

	mu    sync.Mutex
	turns []*crashTurn
}

// run brings up the workers, runs turns through the disaster, and waits for
// all of them.
func (r *crashRun) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := r.fleet.fill(ctx); err != nil {
		return err
	}
	over := make(chan error, 1)
	first := make(chan struct{})
	go func() {
		<-first
		over <- r.disaster(ctx)
	}()
	var running sync.WaitGroup
	slots := make(chan struct{}, r.o.Turns)
	for started := 0; ; started++ {
		if started == r.o.Turns {
			close(first)
		}
		if started < r.o.Turns {
			slots <- struct{}{}
		} else {
			select {
			case err := <-over:
				if err != nil {
					cancel(errCrashOver) // no turn is waited for: it may have lost all workers
				}
				stop := time.AfterFunc(crashPatience, func() { cancel(errCrashPatience) })
				defer stop.Stop()
				running.Wait()
				return err
			case slots <- struct{}{}:
			}
		}
		turn := r.add()
		running.Go(func() {
			r.follow(ctx, turn)
			<-slots
		})
	}
}

// disaster is the kills, or what the test has in their place.
func (r *crashRun) disaster(ctx context.Context) error {
	if r.o.Disaster != nil {
		return r.o.Disaster(ctx, &CrashScene{r.bench, r})
	}
	return r.killer().kill(ctx)
}

func (r *crashRun) killer() *crashKiller {
	return &crashKiller{run: r, random: rand.New(rand.NewPCG(r.o.Seed, r.o.Seed))} //nolint:gosec // moments, not secrets
}
