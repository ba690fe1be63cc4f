// Build makes ahead of time what the tests would otherwise make when they
// first need it:
//
//	go run ./internal/toolbin/build devserver temporal
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/turnkeel/turnkeel/internal/devproc"
	"github.com/turnkeel/turnkeel/internal/toolbin"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := build(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func build(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return errors.New("name what to build: devserver, temporal, versitygw")
	}
	for _, name := range names {
		var path string
		var err error
		switch name {
		case "devserver":
			path, err = devproc.Ensure(ctx, devproc.Printer(os.Stderr))
		case "temporal":
			path, err = toolbin.TemporalCLI(ctx)
		case "versitygw":
			path, err = toolbin.VersityGateway(ctx)
		default:
			err = fmt.Errorf("%q is nothing this builds: devserver, temporal, versitygw", name)
		}
		if err != nil {
			return err
		}
		fmt.Println(path)
	}
	return nil
}
