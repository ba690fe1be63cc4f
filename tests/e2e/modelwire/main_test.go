// Package modelwire runs turns against bad model endpoints on a real Temporal
// server: a turn ends with a correct message, waits the right time, asks the
// model again a few times, or fails clearly. It has tests only.
package modelwire

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
)

var server agenttest.Server

func TestMain(m *testing.M) {
	var stop func()
	var err error
	if server, stop, err = agenttest.MainServer(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "a Temporal server for the tests:", err)
		os.Exit(1)
	}
	code := m.Run()
	stop()
	os.Exit(code)
}
