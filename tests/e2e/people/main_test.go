// Package people runs what people decide on a real Temporal server: approvals,
// interruptions, sessions, and turns that go on in new runs.
package people

import (
	"os"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
)

var server agenttest.Server

func TestMain(m *testing.M) {
	os.Exit(agenttest.RunMain(m, &server))
}
