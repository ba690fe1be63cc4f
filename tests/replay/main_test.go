// Package replay holds the corpus of recorded histories. Each one is replayed
// against the code at hand: a turn in flight must survive a deploy. Files are
// added, never changed (see CONTRIBUTING.md); testdata/SUMS holds them to that.
//
// The scenarios run what the corpus covers on a real server, and replay it.
// `task corpus:record` keeps the histories that testdata does not have yet.
package replay

import (
	"flag"
	"os"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
)

var (
	server agenttest.Server
	record = flag.Bool("record", false, "keep the histories of new scenarios in testdata")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(agenttest.RunMain(m, &server))
}
