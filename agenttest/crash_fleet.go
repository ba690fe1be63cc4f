package agenttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"github.com/turnkeel/turnkeel"
)

// crashFleet are the worker processes of a crash run, the dead ones too.
type crashFleet struct {
	config crashConfig
	env    []string
	size   int

	mu  sync.Mutex
	all []*crashProcess
}

func newCrashFleet(o CrashOptions, b *Bench) *crashFleet {
	agent := b.options.Agents[0]
	return &crashFleet{
		env: o.Env, size: o.Workers,
		config: crashConfig{Server: b.server, Queue: b.Queue, Agent: agent, StopTimeout: o.StopTimeout, Signal: o.Signal},
	}
}

// fill starts as many processes as there are to be, and waits until all take
// tasks.
func (f *crashFleet) fill(ctx context.Context) error {
	for range f.size {
		if err := f.add(); err != nil {
			return err
		}
	}
	for _, p := range f.processes() {
		select {
		case <-p.ready:
		case <-p.done:
			return p.fault()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// add starts one more process.
func (f *crashFleet) add() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.config
	c.Name = fmt.Sprintf("crash-%d", len(f.all)+1)
	p, err := startCrashProcess(c, f.env)
	if err == nil {
		f.all = append(f.all, p)
	}
	return err
}

func (f *crashFleet) processes() []*crashProcess {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*crashProcess(nil), f.all...)
}

// living are the processes that nobody has ended.
func (f *crashFleet) living() []*crashProcess {
	var living []*crashProcess
	for _, p := range f.processes() {
		if !p.gone() {
			living = append(living, p)
		}
	}
	return living
}

// at is the living process that has a call of the turn under way, else the one
// of that name, else any.
func (f *crashFleet) at(turn, name string, random *rand.Rand) *crashProcess {
	living := f.living()
	if len(living) == 0 {
		return nil
	}
	chosen := living[random.IntN(len(living))]
	for _, p := range living {
		if p.busy(turn) {
			return p
		}
		if p.name == name {
			chosen = p
		}
	}
	return chosen
}

// ended is when the process of that name ended; zero if it did not.
func (f *crashFleet) ended(name string) time.Time {
	for _, p := range f.processes() {
		if p.name == name {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.ended
		}
	}
	return time.Time{}
}

// faults are the processes that ended and were not to.
func (f *crashFleet) faults() []error {
	var faults []error
	for _, p := range f.processes() {
		select {
		case <-p.done:
			if err := p.fault(); err != nil {
				faults = append(faults, err)
			}
		default:
		}
	}
	return faults
}

// stop ends all processes. It may be called more than once.
func (f *crashFleet) stop() {
	all := f.processes()
	for _, p := range all {
		select {
		case <-p.done:
		default:
			p.signal(syscall.SIGTERM)
		}
	}
	grace := time.After(turnkeel.DefaultStopTimeout + 5*time.Second)
	for _, p := range all {
		select {
		case <-p.done:
		case <-grace:
			_ = p.cmd.Process.Kill()
			<-p.done
		}
		_ = p.stdin.Close()
	}
}
