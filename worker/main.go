// Command worker is the stock worker: it serves the agents of ./agents with
// the example tools of examples/support and the built-in tools. A worker of your own is the same few
// lines with your own tools.
package main

import (
	"os"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/examples/support"
	"github.com/turnkeel/turnkeel/tools"
)

// ledgerVariable names the file that the example tool refund appends to.
const ledgerVariable = "SUPPORT_LEDGER"

func main() {
	ledger := os.Getenv(ledgerVariable)
	if ledger == "" {
		ledger = ".turnkeel/ledger.jsonl"
	}
	turnkeel.Main(turnkeel.Options{Tools: support.Tools(ledger), Builtins: tools.All()})
}
