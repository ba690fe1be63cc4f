// Package e2e runs whole turns on a real Temporal server, as the processes a
// user runs.
package e2e

import (
	"flag"
	"os"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/tests/e2e/scenario"
)

var (
	server agenttest.Server
	record = flag.Bool("record", false, "write the histories of the scenarios into the replay corpus")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(agenttest.RunMain(m, &server))
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	corpus := ""
	if *record {
		corpus = "../replay/testdata"
	}
	scenario.Run(t, server, corpus)
}
