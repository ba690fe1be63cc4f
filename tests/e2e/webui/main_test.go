// Package webui looks at turns as people do: in the Temporal Web UI, with a
// real browser. It has tests only.
//
// The pictures of the documentation are taken here:
//
//	go test ./tests/e2e/webui -run TestTurn -pictures
package webui

import (
	"flag"
	"os"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
)

// pictures asks for docs/pictures to be taken anew. No test compares them.
var pictures = flag.Bool("pictures", false, "write the pictures of docs/pictures")

var server agenttest.Server

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(agenttest.RunMain(m, &server))
}
