package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"go.temporal.io/server/common/headers"
)

// announcement is the one line on standard output. Fields are only added: other programs parse it.
type announcement struct {
	Address   string `json:"address"` // frontend gRPC, host:port
	UI        string `json:"ui"`      // Web UI, http://host:port
	HTTP      string `json:"http"`    // Temporal's HTTP API, http://host:port
	Namespace string `json:"namespace"`
	DB        string `json:"db"` // absolute path of the SQLite file
	PID       int    `json:"pid"`
	Server    string `json:"server"`          // version of the Temporal server
	Stock     bool   `json:"stock,omitempty"` // started without our dynamic configuration
}

func main() {
	// Several of the libraries print to standard output when something is wrong. It belongs to the JSON line.
	out := os.Stdout
	os.Stdout = os.Stderr
	opts, err := parseFlags(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		fmt.Fprintln(os.Stderr, "devserver:", err)
		os.Exit(2)
	}
	ctx := untilAskedToStop(opts.StdinLifeline)
	if err := run(ctx, opts, out); err != nil {
		fmt.Fprintln(os.Stderr, "devserver:", err)
		os.Exit(1)
	}
}

// run starts everything, announces it on out and serves until ctx ends. Being asked to stop is no error, also
// while starting.
func run(ctx context.Context, opts options, out io.Writer) error {
	cfg, err := loadConfig(opts)
	if err != nil {
		return err
	}
	dynamic, err := dynamicConfig(opts, cfg)
	if err != nil {
		return err
	}
	lock, err := lockDatabase(cfg.db)
	if err != nil {
		return err
	}
	defer lock.release()
	if err := cfg.ports.check(opts.IP); err != nil {
		return err
	}
	if err := prepareDatabase(ctx, cfg, opts); err != nil {
		return ignoreWhenStopping(ctx, err)
	}
	log := newServerLog(opts.LogLevel, os.Stderr)
	srv := newServer(cfg, dynamic, log, opts)
	defer srv.stop()
	if err := srv.start(ctx); err != nil {
		return ignoreWhenStopping(ctx, err)
	}
	if err := awaitReady(ctx, cfg, opts); err != nil {
		return ignoreWhenStopping(ctx, err)
	}
	line, err := json.Marshal(announcement{
		Address:   cfg.address(),
		UI:        "http://" + cfg.uiAddress(),
		HTTP:      "http://" + cfg.httpAddress(),
		Namespace: namespace,
		DB:        cfg.db,
		PID:       os.Getpid(),
		Server:    headers.ServerVersion,
		Stock:     opts.Stock,
	})
	if err != nil {
		return err
	}
	lock.note(line)
	if _, err := out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("cannot announce the server on standard output: %w", err)
	}
	<-ctx.Done()
	return nil
}

// ignoreWhenStopping drops what went wrong only because the start was broken off.
func ignoreWhenStopping(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
