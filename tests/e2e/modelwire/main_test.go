// Package modelwire runs turns against bad model endpoints on a real Temporal
// server: a turn ends with a correct message, waits the right time, asks the
// model again a few times, or fails clearly. It has tests only.
package modelwire

import (
	"os"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
)

var server agenttest.Server

func TestMain(m *testing.M) {
	os.Exit(agenttest.RunMain(m, &server))
}
