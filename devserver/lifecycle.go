package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// untilAskedToStop ends its context at the first SIGINT or SIGTERM, or, with a lifeline, when standard input ends.
// A second signal ends the process at once: the database survives that, and whoever sends it means it.
func untilAskedToStop(lifeline bool) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		if s, ok := (<-signals).(syscall.Signal); ok {
			os.Exit(128 + int(s))
		}
	}()
	if lifeline {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	return ctx
}
