// Package people runs what people decide on a real Temporal server: approvals,
// interruptions, sessions, and turns that go on in new runs.
package people

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
