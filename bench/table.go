package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// printTable writes the report for people.
func printTable(w io.Writer, r Report) error {
	fmt.Fprintf(w, "bench %s · %s/%s, %d CPUs, %s · %d pairs after %d warm-up pairs · %d rounds of %d turns, %d at once\n",
		r.Date, r.Machine.OS, r.Machine.Arch, r.Machine.CPUs, r.Machine.Go, r.Settings.Pairs, r.Settings.Warmup,
		r.Settings.Load.Rounds, r.Settings.Load.Turns, r.Settings.Load.AtOnce)
	for _, s := range r.Servers {
		fmt.Fprintf(w, "\n%s server\n", s.Server)
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tw, "shape\tmeasure\tours\tbare\tours/bare\t95 % interval\ttarget\tverdict")
		for _, sh := range s.Shapes {
			printTimes(tw, sh)
			printHistory(tw, sh)
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	for _, n := range r.Notes {
		fmt.Fprintln(w, "- "+n)
	}
	return nil
}

func printTimes(w io.Writer, s ShapeReport) {
	if c := s.Latency; c != nil {
		printCompared(w, s.Shape, "latency p50, ms", "%.1f", c, fmt.Sprintf("≤ %.2f, must ≤ %.2f", aimLatency, mustLatency))
		fmt.Fprintf(w, "%s\tlatency p95, ms\t%.1f\t%.1f\t\t\t\t\n", s.Shape, c.Ours.P95, c.Bare.P95)
	}
	if c := s.Throughput; c != nil {
		printCompared(w, s.Shape, "turns/s", "%.1f", c, fmt.Sprintf("≥ %.2f, must ≥ %.2f", aimThroughput, mustThroughput))
	}
	if c := s.CPU; c != nil {
		printCompared(w, s.Shape, "cpu, ms a turn", "%.2f", c, "")
	}
}

func printCompared(w io.Writer, shape, what, format string, c *Compared, target string) {
	ci := ""
	if c.CI95 != nil {
		ci = fmt.Sprintf("%.3f – %.3f", c.CI95.Low, c.CI95.High)
	}
	fmt.Fprintf(w, "%s\t%s\t"+format+"\t"+format+"\t%.3f\t%s\t%s\t%s\n", shape, what, c.Ours.P50, c.Bare.P50, c.Ratio, ci, target, c.Verdict)
}

func printHistory(w io.Writer, s ShapeReport) {
	h := s.History
	fmt.Fprintf(w, "%s\tevents (floor %d)\t%.0f\t%.0f\t%.3f\t\t%s\t%s\n", s.Shape, h.Floor,
		h.Ours.Events, h.Bare.Events, h.Ours.Events/h.Bare.Events, eventTarget(h), h.Events)
	fmt.Fprintf(w, "%s\thistory bytes (%.2f × content of %d)\t%.0f\t%.0f\t%.3f\t\t≤ %.1f\t%s\n", s.Shape,
		h.BytesToContent, h.Said, h.Ours.Bytes, h.Bare.Bytes, h.BytesToBare, mustBytes, h.Bytes)
	fmt.Fprintf(w, "%s\tpayload bytes\t%.0f\t%.0f\t%.3f\t\t\t\n", s.Shape, h.Ours.Payloads, h.Bare.Payloads, h.PayloadsToBare)
}

func eventTarget(h History) string {
	if h.Serial {
		return "the floor"
	}
	return fmt.Sprintf("≤ bare + %d", mustEventsApart)
}
