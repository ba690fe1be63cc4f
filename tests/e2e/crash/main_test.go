// Package crash kills worker processes in the middle of turns, and takes away
// what they need, on a real Temporal server, against a ledger outside of them
// that counts what arrived.
package crash

import (
	"flag"
	"os"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
)

var (
	server agenttest.Server
	kills  = flag.Int("kills", 60, "kills of the matrix; 300 is the full one")
	seed   = flag.Uint64("seed", 0, "seed of the matrix; 0 is a random one")
)

// reportEnv names a file to which the matrix appends its report: go test hides
// what a test that passes prints.
const reportEnv = "TURNKEEL_CRASH_REPORT"

func TestMain(m *testing.M) {
	serveLedger()
	agenttest.CrashWorker(workerTools)
	flag.Parse()
	os.Exit(agenttest.RunMain(m, &server))
}
