// Package lineage runs turns whose workers die, whose runs are reset and whose
// activities an operator handles, on a real Temporal server, against a ledger
// outside of them that counts what arrived.
package lineage

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
)

var server agenttest.Server

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" { // a worker process of a test
		os.Exit(serveWorker())
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var stop func()
	var err error
	if server, stop, err = agenttest.MainServer(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "a Temporal server for the tests:", err)
		return 1
	}
	defer stop()
	for name, value := range map[string]string{ // for the starter's commands
		"TEMPORAL_ADDRESS": server.Address, "TEMPORAL_NAMESPACE": server.Namespace, "TEMPORAL_CONFIG_FILE": os.DevNull,
	} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}
