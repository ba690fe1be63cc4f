// Command bench measures what a turn costs beside a bare hand-written workflow
// that runs the same activities with the same payloads, in one process, on one
// server, in interleaved pairs: latency, throughput, history events and bytes,
// on the tuned development server and on a stock one.
//
//	go run ./bench
//	go run ./bench --quick --only tuned --output json
//	go run ./bench --growth
//	go run ./bench --parked 2000
//	go run ./bench --session 1000
//	go run ./bench --streaming
//
// The report goes to standard output and progress to standard error. Timings
// are judged in words and never by the exit code.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.temporal.io/sdk/worker"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/internal/devproc"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its exit code: 0, 1 for what went wrong, 2 for wrong usage,
// 130 for Ctrl-C.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == workerCommand {
		return runWorker(os.Stdin, stdout, stderr)
	}
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if other := o.other(); other != nil {
		if err := other(ctx, o, stdout, stderr); err != nil {
			fmt.Fprintln(stderr, "bench:", err)
			return 1
		}
		return 0
	}
	report, err := measure(ctx, o, stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "bench: interrupted; the server and the workers are stopped")
		if !o.json && len(report.Servers) > 0 { // half an object would be worse than none
			_ = printTable(stdout, report)
		}
		return 130
	case err == nil:
		err = write(report, o, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

// measure runs all servers and shapes.
func measure(ctx context.Context, o settings, stderr io.Writer) (Report, error) {
	worker.SetStickyWorkflowCacheSize(turnkeel.DefaultCacheSize)
	report := Report{
		Date: time.Now().UTC().Format(time.DateTime), Machine: thisMachine(), Notes: notes(),
		Settings: Settings{Pairs: o.pairs, Warmup: o.warmup, Load: o.load},
	}
	bin, err := devproc.Ensure(ctx, devproc.Printer(stderr))
	if err != nil {
		return report, err
	}
	for _, name := range o.servers {
		part, err := measureServer(ctx, bin, name, o, stderr)
		if len(part.Shapes) > 0 { // also what was done before an interruption
			report.Servers = append(report.Servers, part)
		}
		if err != nil {
			return report, fmt.Errorf("%s server: %w", name, err)
		}
	}
	return report, nil
}

func measureServer(ctx context.Context, bin, name string, o settings, stderr io.Writer) (ServerReport, error) {
	report := ServerReport{Server: name}
	s, err := startStack(ctx, bin, name == serverStock)
	if err != nil {
		return report, err
	}
	defer s.stop()
	for _, sh := range shapes {
		part, err := measureShape(ctx, s, sh, o, func(what string) func(done, all int) {
			return progress(stderr, name+", "+sh.Name+", "+what)
		})
		if err != nil {
			return report, err
		}
		report.Shapes = append(report.Shapes, part)
	}
	if err := s.model.Err(); err != nil {
		return report, fmt.Errorf("the scripted model: %w", err)
	}
	return report, nil
}

func measureShape(ctx context.Context, s *stack, sh shape, o settings, tell func(what string) func(done, all int)) (ShapeReport, error) {
	report := ShapeReport{Shape: sh.Name, What: sh.What}
	both := sides{ours: s.ours, bare: s.bare}
	pairs := o.pairs
	if !sh.Timed {
		pairs = min(pairs, keptTurns)
	}
	times, err := timePairs(ctx, both, sh, o.warmup, pairs, tell("pairs"))
	if err != nil {
		return report, err
	}
	weights, err := weighTurns(ctx, s.history, times.last)
	if err != nil {
		return report, err
	}
	report.History = historyReport(sh, weights)
	if !sh.Timed {
		return report, nil
	}
	report.Latency = latencyReport(times)
	under, err := timeRounds(ctx, both, sh, o.load, tell("rounds"))
	if err != nil {
		return report, err
	}
	report.Throughput, report.CPU = throughputReport(under)
	return report, nil
}

// progress writes about every five seconds how far a part is.
func progress(w io.Writer, what string) func(done, all int) {
	said := time.Now()
	return func(done, all int) {
		if done == all || time.Since(said) > 5*time.Second {
			said = time.Now()
			fmt.Fprintf(w, "%s: %d of %d\n", what, done, all)
		}
	}
}

// write gives the report: a table or JSON on standard output, and JSON in a
// file if one is named.
func write(r Report, o settings, stdout io.Writer) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := writeJSON(append(text, '\n'), o, stdout); err != nil || o.json {
		return err
	}
	return printTable(stdout, r)
}

// writeReport gives any report: as JSON where the settings ask for it, else by
// print.
func writeReport(report any, o settings, stdout io.Writer, print func(io.Writer)) error {
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	if err := writeJSON(append(text, '\n'), o, stdout); err != nil || o.json {
		return err
	}
	print(stdout)
	return nil
}

// writeJSON writes a report where the settings ask for JSON.
func writeJSON(text []byte, o settings, stdout io.Writer) error {
	if o.file != "" {
		if err := os.WriteFile(o.file, text, 0o644); err != nil { //nolint:gosec // a report, for everyone
			return err
		}
	}
	if o.json {
		_, err := stdout.Write(text)
		return err
	}
	return nil
}
