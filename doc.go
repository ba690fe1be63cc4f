// Package turnkeel runs LLM agents whose tool calls touch the real world, on
// Temporal. Every agent turn is a Temporal workflow, every tool call is an
// activity with a derived idempotency key, and the workflow's history is the
// effect log.
//
// # A worker of your own
//
// Define tools with package [github.com/turnkeel/turnkeel/tooldefs], describe
// agents in agents/<name>/agent.yaml, and hand both to [Main]:
//
//	func main() {
//		turnkeel.Main(turnkeel.Options{Tools: []*tooldefs.Tool{Charge}})
//	}
//
// The binary connects by Temporal's own environment conventions and serves
// turns until it is told to stop. It also has the commands check and tools.
//
// # Into a worker you already have
//
// [Register] adds the workflows and activities to any Temporal worker, with
// that worker's client, interceptors and options. [SetWorkerDefaults] fills
// the options that make a dead worker noticed in seconds.
//
// # Starting turns
//
// [NewClient] wraps a Temporal client. [Client.Start] returns at once with a
// [Turn]; [Turn.Result] waits. A program in another language starts the
// workflow "turnkeel.Turn" with plain JSON:
//
//	temporal workflow start --type turnkeel.Turn --task-queue turnkeel \
//	  --input '{"agent":"support","messages":[{"role":"user","content":"…"}]}'
//
// # Where to read on
//
//   - package contract: everything that is written into a history
//   - package workflows: what a turn does, step by step, in turn.go
//   - package activities: the model call, the plan, and the tool's wrapper
//   - docs/architecture.md: the parts and which way they look
package turnkeel
