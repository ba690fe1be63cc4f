package support

import _ "embed"

// AgentName is the agent of agents/support.
const AgentName = "support"

// DemoMessage is what the customer writes in the demo.
const DemoMessage = "Hello, this is Ada (customer C-17). The teapot of my order A-1001 arrived broken. Please refund it."

//go:embed demo.yaml
var demoScript string

// DemoScript is what a model says to [DemoMessage], for an offline demo.
func DemoScript() []byte { return []byte(demoScript) }
