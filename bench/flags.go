package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
)

// The two servers of devproc.
const (
	serverTuned = "tuned"
	serverStock = "stock"
)

// settings are what the command line asks for.
type settings struct {
	servers []string
	pairs   int
	warmup  int
	load    load
	file    string
	json    bool
	growth  bool

	parked    int
	session   int
	streaming bool
}

// other is the benchmark that was asked for in place of the comparison, nil if
// none was.
func (o settings) other() func(ctx context.Context, o settings, stdout, stderr io.Writer) error {
	switch {
	case o.growth:
		return growth
	case o.parked > 0:
		return parked
	case o.session > 0:
		return session
	case o.streaming:
		return streaming
	}
	return nil
}

// parse reads the command line; it says on stderr what is wrong with it.
func parse(args []string, stderr io.Writer) (settings, error) {
	var o settings
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.pairs, "pairs", 120, "interleaved pairs of turns for the latency")
	flags.IntVar(&o.warmup, "warmup", 10, "pairs before those, not counted")
	flags.IntVar(&o.load.Rounds, "rounds", 10, "interleaved rounds for the throughput, after one warm-up round")
	flags.IntVar(&o.load.Turns, "turns", 100, "turns of each side in a round")
	flags.IntVar(&o.load.AtOnce, "at-once", 50, "turns under way at a time in a round")
	flags.StringVar(&o.file, "json", "", "also write the report as JSON to this `file`")
	output := flags.String("output", "table", "what goes to standard output: table or json")
	only := flags.String("only", "", "measure on one server only: tuned or stock")
	stock := flags.Bool("stock", true, "measure on a stock server as well")
	flags.BoolVar(&o.growth, "growth", false, "instead: history and folds of turns of 10 to 300 steps, beside the repeated-input pattern")
	flags.IntVar(&o.parked, "parked", 0, "instead: so many turns that wait for approval: what they cost the worker, and how fast they are decided")
	flags.IntVar(&o.session, "session", 0, "instead: so many short turns of one session: their latency and what they add to histories")
	flags.BoolVar(&o.streaming, "streaming", false, "instead: from the model's chunk to the terminal, and the heartbeats that it takes")
	quick := flags.Bool("quick", false, "a few pairs and rounds, to see that it runs: says little about timing")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if *quick {
		o.pairs, o.warmup, o.load.Rounds, o.load.Turns = 8, 2, 2, 50
	}
	o.servers, o.json = serversOf(*only, *stock), *output == "json"
	if err := o.check(flags.Args(), *output); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return o, err
	}
	return o, nil
}

func serversOf(only string, stock bool) []string {
	switch {
	case only != "":
		return []string{only}
	case stock:
		return []string{serverTuned, serverStock}
	}
	return []string{serverTuned}
}

func (o settings) check(rest []string, output string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unknown argument %q; see bench -h", rest[0])
	case output != "table" && output != "json":
		return fmt.Errorf("--output %s: want table or json", output)
	case o.servers[0] != serverTuned && o.servers[0] != serverStock:
		return fmt.Errorf("--only %s: want tuned or stock", o.servers[0])
	case o.parked < 0 || o.parked == 1 || o.session < 0 || o.session > 0 && o.session < 10:
		return errors.New("--parked must be at least 2 turns, --session at least 10")
	case min(o.pairs, o.load.Rounds, o.load.Turns, o.load.AtOnce) < 1 || o.warmup < 0:
		return errors.New("--pairs, --rounds, --turns and --at-once must be at least 1, --warmup at least 0")
	}
	return nil
}
