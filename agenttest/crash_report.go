package agenttest

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// CrashReport is what a run of [Crash] came to. Its String is for people.
type CrashReport struct {
	Seed   uint64
	Signal syscall.Signal

	// Kills are the worker processes that were ended: when a turn had just
	// recorded an event, when a call had just come to a worker, when one had
	// been made and was not yet recorded, and at random.
	Kills, AtEvent, AtStart, AtReturn, AtRandom int

	// Events is how many different places of a history AtEvent came to, the
	// last of which is LastEvent.
	Events    int
	LastEvent int64

	Turns, Completed int
	Calls            CrashCalls

	// Arrivals are requests at the service; Repeats are those under a key that
	// had arrived before. Duplicates are the repeats that broke a promise.
	Arrivals, Repeats, Duplicates int

	// Lost is how long it took from the end of a process until a tool or model
	// call that it was at began again elsewhere or, where it may not, had its
	// outcome recorded. LostAgain is the same of one that was lost more than
	// once: Temporal waits longer before each retry. Stalled is that of a
	// workflow task, however often it was lost.
	Lost, LostAgain, Stalled CrashTimes

	// Problems are the promises that were broken, with the turn and call.
	Problems []string

	// Outcomes are the turns, in the order of their start.
	Outcomes []Outcome
}

// CrashCalls counts the calls that turns intended, by class and outcome.
type CrashCalls struct {
	AtMostOnce, Keyed, SafeToRetry int
	Done, Unknown, Other           int
}

func (c *CrashCalls) count(e fold.Effect) {
	switch e.Class {
	case contract.ClassAtMostOnce:
		c.AtMostOnce++
	case contract.ClassKeyed:
		c.Keyed++
	case contract.ClassSafeToRetry:
		c.SafeToRetry++
	}
	switch e.Outcome {
	case contract.OutcomeDone:
		c.Done++
	case contract.OutcomeUnknown, contract.OutcomeInterrupted:
		c.Unknown++
	default:
		c.Other++
	}
}

// CrashTimes are times of recovery.
type CrashTimes struct {
	N             int
	Median, Worst time.Duration
}

func timesOf(all []time.Duration) CrashTimes {
	if len(all) == 0 {
		return CrashTimes{}
	}
	slices.Sort(all)
	return CrashTimes{N: len(all), Median: all[len(all)/2], Worst: all[len(all)-1]}
}

// String is "12, median 4.2s, worst 5.1s".
func (c CrashTimes) String() string {
	if c.N == 0 {
		return "none"
	}
	return fmt.Sprintf("%d, median %.1f s, worst %.1f s", c.N, c.Median.Seconds(), c.Worst.Seconds())
}

// String is the report as a table of lines.
func (r CrashReport) String() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		b.WriteString(fmt.Sprintf("%-12s", name) + fmt.Sprintf(format, args...) + "\n")
	}
	if r.Kills > 0 {
		line("kills", "%d by %s: %d at an event (%d places of 1 to %d), %d as a call began, %d as one had returned, %d at random",
			r.Kills, nameOf(r.Signal), r.AtEvent, r.Events, r.LastEvent, r.AtStart, r.AtReturn, r.AtRandom)
	}
	line("turns", "%d, completed %d", r.Turns, r.Completed)
	c := r.Calls
	line("calls", "%d: at most once %d, keyed %d, safe to retry %d", c.AtMostOnce+c.Keyed+c.SafeToRetry, c.AtMostOnce, c.Keyed, c.SafeToRetry)
	line("outcomes", "done %d, unknown and told %d, other %d", c.Done, c.Unknown, c.Other)
	line("arrivals", "%d, repeats under a known key %d", r.Arrivals, r.Repeats)
	line("duplicates", "%d", r.Duplicates)
	line("recovery", "of a lost call: %s; of one lost again: %s; of a workflow task: %s", r.Lost, r.LostAgain, r.Stalled)
	line("seed", "%d", r.Seed)
	for _, p := range r.Problems {
		line("PROBLEM", "%s", p)
	}
	return b.String()
}

func nameOf(s syscall.Signal) string {
	switch s {
	case syscall.SIGKILL:
		return "SIGKILL"
	case syscall.SIGTERM:
		return "SIGTERM"
	default:
		return s.String()
	}
}

// report counts and checks what the run came to.
func (r *crashRun) report() CrashReport {
	report := CrashReport{Seed: r.o.Seed, Signal: r.o.Signal, Turns: len(r.turns)}
	report.countKills(r.kills)
	arrivals, err := r.o.Ledger()
	if err != nil {
		report.Problems = append(report.Problems, "the ledger: "+err.Error())
	}
	check := &crashCheck{report: &report, arrived: countArrivals(arrivals), known: map[string]bool{}, outside: map[string]bool{}}
	report.Arrivals, report.Repeats = len(arrivals), len(arrivals)-len(check.arrived)
	var runs []*fold.Run
	for _, turn := range r.turns {
		out, run, err := r.outcome(turn)
		if err != nil {
			check.problem("turn %s: %v", turn.id, err)
			continue
		}
		runs, report.Outcomes = append(runs, run), append(report.Outcomes, out)
		for _, e := range out.Effects {
			if check.arrived[e.Key].requests > 0 {
				check.outside[e.Tool] = true
			}
		}
	}
	for i, run := range runs {
		check.turn(run.WorkflowID, run, report.Outcomes[i])
	}
	check.strangers()
	for _, err := range r.fleet.faults() {
		check.problem("%v", err)
	}
	once, again := r.lost(runs)
	report.Lost, report.LostAgain, report.Stalled = timesOf(once), timesOf(again), timesOf(r.stalled())
	return report
}

func (r *CrashReport) countKills(kills []crashKill) {
	places := map[int64]bool{}
	for _, k := range kills {
		r.Kills++
		switch k.moment {
		case crashAtEvent:
			r.AtEvent++
			places[k.event] = true
			r.LastEvent = max(r.LastEvent, k.event)
		case crashAtStart:
			r.AtStart++
		case crashAtReturn:
			r.AtReturn++
		default:
			r.AtRandom++
		}
	}
	r.Events = len(places)
}
