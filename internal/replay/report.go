package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// progressEvery is how often long work says how far it is.
const progressEvery = 2 * time.Second

// report tells findings as they come.
type report struct {
	job    Job
	began  time.Time
	told   time.Time // when progress was told last
	total  int64     // runs to come in all; -1: unknown
	others int64     // open runs of types that this binary does not have
	sum    Summary
	events int
	headed bool
}

// found tells one finding.
func (r *report) found(f Finding) error {
	r.sum.add(f.Verdict)
	r.events += f.Events
	if r.job.JSON {
		enc := json.NewEncoder(r.job.Out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(f); err != nil {
			return err
		}
	} else {
		r.print(f)
	}
	r.progress()
	return nil
}

// print is a finding as a row, and below it what is wrong.
func (r *report) print(f Finding) {
	if !r.headed {
		r.headed = true
		fmt.Fprintf(r.job.Out, "%-10s  %6s  %-16s  %s\n", "VERDICT", "EVENTS", "TYPE", "RUN")
	}
	fmt.Fprintf(r.job.Out, "%-10s  %6d  %-16s  %s\n", strings.ReplaceAll(string(f.Verdict), "_", " "), f.Events, plain(f.Type), plain(f.name()))
	if f.Where != nil {
		fmt.Fprintf(r.job.Out, "    where:   %s\n", plain(f.Where.String()))
	}
	if f.Error != "" {
		fmt.Fprintf(r.job.Out, "    error:   %s\n", plain(shortened(f.Error)))
	}
	if f.Advice != "" {
		fmt.Fprintf(r.job.Out, "    do:      %s\n", plain(strings.ReplaceAll(f.Advice, "; or ", "\n      or ")))
	}
}

// attributes are what the SDK's error says of an event or command beyond its
// name and id; --output json has it all.
var attributes = regexp.MustCompile(`, (?:TaskQueue|Header|Input|WorkflowTaskCompletedEventId|StartToFireTimeout|Namespace):.*?(, replay command is |$)`)

// shortened is an error for a terminal.
func shortened(text string) string {
	const limit = 600
	text = attributes.ReplaceAllString(text, ")$1")
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}

// progress says now and then how far it is.
func (r *report) progress() {
	now := time.Now()
	if r.told.IsZero() {
		r.told = r.began
	}
	if now.Sub(r.told) < progressEvery {
		return
	}
	r.told = now
	of := ""
	if r.total >= 0 {
		of = fmt.Sprintf(" of about %d", r.total)
	}
	fmt.Fprintf(r.job.ErrOut, "%d%s runs replayed, %d break\n", r.sum.Sum(), of, r.sum.Breaks)
}

// end is the last word.
func (r *report) end(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		return // the error is the last word
	}
	if r.job.All && r.sum.Sum() == 0 && err == nil {
		fmt.Fprintln(r.job.ErrOut, "no run was found")
	}
	line := fmt.Sprintf("%d replay, %d break", r.sum.Replays, r.sum.Breaks)
	if r.sum.Unreadable > 0 {
		line += fmt.Sprintf(", %d could not be read", r.sum.Unreadable)
	}
	if r.sum.NotOurs > 0 {
		line += fmt.Sprintf(", %d are not ours", r.sum.NotOurs)
	}
	if err != nil {
		line += "; stopped before all were replayed"
	}
	fmt.Fprintf(r.job.ErrOut, "%s (%d events in %s)\n", line, r.events, time.Since(r.began).Round(time.Millisecond))
	if r.others > 0 {
		fmt.Fprintf(r.job.ErrOut, "%d runs are of workflow types that this binary does not have and were not replayed\n", r.others)
	}
}

// plain drops control characters: ids and errors must not steer the terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}
