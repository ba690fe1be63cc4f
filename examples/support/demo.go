package support

import (
	_ "embed"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// AgentName is the agent of agents/support.
const AgentName = "support"

// DemoMessage is what the customer writes in the demo.
const DemoMessage = "Hello, this is Ada (customer C-17). The teapot of my order A-1001 arrived broken. Please refund it."

// CrashingTools are [Tools] of which the refund calls crash when the money is
// paid back and the call has not returned: the worst moment to lose a worker.
func CrashingTools(ledgerPath string, crash func()) []*tooldefs.Tool {
	return []*tooldefs.Tool{LookupOrder(), LookupCustomer(), refundTool(ledger{path: ledgerPath, paid: crash})}
}

//go:embed demo.yaml
var demoScript string

// DemoScript is what a model says to [DemoMessage], for an offline demo.
func DemoScript() []byte { return []byte(demoScript) }
