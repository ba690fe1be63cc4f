package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

const (
	parkedCache  = 100 // workflows that the worker keeps
	parkedWarmup = 100 // turns before the first reading, so that pools and connections stand
	parkedAlone  = 50  // turns that are decided one after the other, with nothing else going on
	parkedAtOnce = 32  // what the client does at a time
)

// parkedTurn is a turn that waits for a person.
type parkedTurn struct {
	id      string
	asked   contract.Pending
	decided time.Time // when the client sent its yes
}

// parked parks turns on approval, looks at the worker, and decides them all.
func parked(ctx context.Context, o settings, stdout, stderr io.Writer) error {
	r, err := scripted(ctx, stderr, agenttest.Script{Steps: []agenttest.Step{
		{Text: firstText, Calls: []agenttest.ScriptCall{{Name: payTool, Args: map[string]any{"cents": 42}}}}, {Text: secondText},
	}}, parkedCache)
	if err != nil {
		return err
	}
	defer r.stop()
	report := ParkedReport{Date: time.Now().UTC().Format(time.DateTime), Machine: thisMachine(), Turns: o.parked, Cache: parkedCache}
	p := &parking{rig: r, stderr: stderr, report: &report}
	if err := p.run(ctx); err != nil {
		return err
	}
	return writeReport(report, o, stdout, report.print)
}

// parking is one run of the benchmark.
type parking struct {
	*rig
	stderr io.Writer
	report *ParkedReport
}

func (p *parking) run(ctx context.Context) (err error) {
	if p.report.Fresh, err = p.measure(); err != nil {
		return err
	}
	if _, err := p.batch(ctx, "warmup", parkedWarmup); err != nil {
		return err
	}
	if p.report.Idle, err = p.measure(); err != nil {
		return err
	}
	turns, err := p.batch(ctx, "parked", p.report.Turns)
	if err != nil {
		return err
	}
	p.report.After, err = p.measure()
	if err != nil || ctx.Err() != nil {
		return err
	}
	return p.resumes(ctx, turns)
}

// batch parks n turns, decides them and waits for their end. The warm-up's
// readings are overwritten by those of the turns that count.
func (p *parking) batch(ctx context.Context, name string, n int) ([]parkedTurn, error) {
	turns := make([]parkedTurn, n)
	began := time.Now()
	err := p.each(ctx, name+": start", n, func(ctx context.Context, i int) error {
		turns[i].id = "bench-" + name + "-" + strconv.Itoa(i)
		_, err := p.turns.Start(ctx, turnkeel.TurnRequest{TurnID: turns[i].id, Input: contract.TurnInput{
			Agent: agentName, Messages: []contract.Message{{Role: contract.RoleUser, Content: "Pay, please."}},
		}})
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := p.count(ctx, name+": parked", contract.AttributePending+" > 0", n); err != nil {
		return nil, err
	}
	p.report.ParkSeconds = time.Since(began).Seconds()
	if p.report.Parked, err = p.measure(); err != nil {
		return nil, err
	}
	if p.report.Server, err = rssOf(strconv.Itoa(p.server.PID)); err != nil {
		return nil, err
	}
	if err := p.ask(ctx, name, turns); err != nil {
		return nil, err
	}
	return turns, p.sweep(ctx, name, turns)
}

// ask reads what each turn waits for: those out of the cache are replayed.
func (p *parking) ask(ctx context.Context, name string, turns []parkedTurn) error {
	began := time.Now()
	err := p.each(ctx, name+": ask", len(turns), func(ctx context.Context, i int) error {
		status, err := p.turns.Status(ctx, turns[i].id)
		if err != nil {
			return err
		}
		if len(status.Pending) != 1 {
			return fmt.Errorf("%s does not wait: %+v", turns[i].id, status)
		}
		turns[i].asked = status.Pending[0]
		return nil
	})
	p.report.AskSeconds = time.Since(began).Seconds()
	return err
}

// sweep decides the first few turns one at a time and the rest at once.
func (p *parking) sweep(ctx context.Context, name string, turns []parkedTurn) error {
	decide := func(ctx context.Context, t *parkedTurn) error {
		t.decided = time.Now()
		_, err := p.turns.Decide(ctx, t.id, contract.DecideRequest{Key: t.asked.Key, Digest: t.asked.Digest, Approve: true, By: "bench"})
		return err
	}
	alone := min(parkedAlone, len(turns)/2)
	for i := range alone {
		if err := decide(ctx, &turns[i]); err != nil {
			return err
		}
		if _, err := p.turns.Turn(ctx, turns[i].id, "").Result(ctx); err != nil {
			return err
		}
	}
	rest, began := turns[alone:], time.Now()
	err := p.each(ctx, name+": decide", len(rest), func(ctx context.Context, i int) error { return decide(ctx, &rest[i]) })
	if err != nil {
		return err
	}
	p.report.SweepSeconds = time.Since(began).Seconds()
	p.report.PerSecond = float64(len(rest)) / p.report.SweepSeconds
	err = p.each(ctx, name+": end", len(rest), func(ctx context.Context, i int) error {
		result, err := p.turns.Turn(ctx, rest[i].id, "").Result(ctx)
		if err == nil && (result.Status != contract.StatusCompleted || result.Effects.Done != 1) {
			err = fmt.Errorf("%s did not do its work: %+v", rest[i].id, result)
		}
		return err
	})
	p.report.DoneSeconds = time.Since(began).Seconds()
	return err
}

// resumes reads from each history when the tool started.
func (p *parking) resumes(ctx context.Context, turns []parkedTurn) error {
	ms := make([]float64, len(turns))
	s := &stack{client: p.client}
	err := p.each(ctx, "histories", len(turns), func(ctx context.Context, i int) error {
		events, err := s.history(ctx, ended{id: turns[i].id})
		if err != nil {
			return err
		}
		var tool int64
		for _, e := range events {
			if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == contract.ToolActivity(payTool) {
				tool = e.GetEventId()
			}
			if tool > 0 && e.GetActivityTaskStartedEventAttributes().GetScheduledEventId() == tool {
				ms[i] = float64(e.GetEventTime().AsTime().Sub(turns[i].decided)) / float64(time.Millisecond)
				return nil
			}
		}
		return fmt.Errorf("%s ran no tool", turns[i].id)
	})
	alone := min(parkedAlone, len(turns)/2)
	p.report.Alone, p.report.Resume = delayOf(ms[:alone]), delayOf(ms[alone:])
	return err
}

// count waits until so many turns match a query.
func (p *parking) count(ctx context.Context, what, query string, want int) error {
	tell := progress(p.stderr, what)
	for {
		found, err := p.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: p.server.Namespace, Query: query})
		if err != nil {
			return err
		}
		n := int(found.GetCount())
		if n >= want {
			return nil
		}
		tell(n, want)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// each runs do for 0 … n-1, a few at a time, and gives the first error.
func (p *parking) each(ctx context.Context, what string, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tell := progress(p.stderr, what)
	next := make(chan int)
	var group sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range parkedAtOnce {
		group.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					cancel(err)
					return
				}
				mu.Lock()
				done++
				tell(done, n)
				mu.Unlock()
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	group.Wait()
	return context.Cause(ctx)
}
