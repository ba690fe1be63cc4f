// Package agenttest is the test kit for agents and their tools.
//
// [NewBench] is a whole agent on a real Temporal server, with a scripted
// model: give it tools and a script, and [Bench.Run] runs a turn to its end
// and replays its history. [StartServer] is the server alone, [Replay] the
// replay alone, [ReplayFiles] the replay of histories that were saved. [NewModelServer] is the scripted model alone: an
// OpenAI-compatible server that needs no Temporal.
//
// [Crash] kills worker processes under a tool set of one's own, and holds the
// turns' effect logs against what arrived at the service behind the tools.
//
// [NewCall] is the smallest part: a fake call to test one tool with.
//
// A script is YAML:
//
//	model: scripted              # optional: the name the server answers with
//	steps:                       # the answers to a user message, in order
//	  - text: "Let me look."     # what the model says, and/or
//	    reasoning: "…"           # its reasoning text
//	    calls:                   # the tools it calls
//	      - {id: call_1, name: lookup_order, args: {order_id: "A-1"}}
//	      - {name: lookup_order, raw: '{"order_id": '}   # arguments as they go over the wire
//	    usage: {prompt: 120, completion: 30, cached: 100, reasoning: 5}
//	    delay: 50ms              # before the first chunk
//	    chunk_delay: 5ms         # before each further chunk
//	    finish: length           # finish_reason; usually left out
//	    failures:                # one for each time the same request comes, then the step
//	      - {status: 429, message: slow down, headers: {Retry-After: "1"}}
//	      - {cut: 3}             # the connection breaks after 3 chunks
//	  - text: "It is shipped."
//	turns:                       # optional: other steps for some user messages
//	  - when: refund             # a part of the user message
//	    steps:
//	      - text: "No refunds."
//
// Which step is due follows from the request alone: it is the number of
// assistant messages since the latest user message. So a request that is sent
// again gets the same answer, and several turns may run at once. Failures are
// the exception: they count how often the very same request came.
//
// The server is as strict as the strictest endpoint. A request that is not
// legal (an unknown role, a call that is not answered exactly once, in order
// and at once, arguments that are no JSON object, a repeated call id) is
// answered with 400 and kept in [ModelServer.Err]; end a test with
// [ModelServer.Check].
package agenttest
