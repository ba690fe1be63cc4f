// Package mcptools makes tools of what MCP servers offer, by the official Go
// SDK. It is worker-side and knows nothing of Temporal: the tools are those of
// package tooldefs and pass the same gates as any other.
//
// Agents name their servers in mcp_servers of agent.yaml, and the worker does
// the rest: see docs/mcp.md. In code, [Connect] starts or reaches one server
// and keeps up the connection; [Wrap] and [WrapAll] take the descriptors of a
// session that you hold yourself.
//
// # What is promised for a call
//
//   - It is sent at most once. When the connection breaks, or the deadline
//     passes, before the answer came, the outcome is unknown, and failed for
//     SafeToRetry; nothing is sent again.
//   - The definition that was listed at the start is pinned: before each call
//     it is held against the server's present one, and a tool that has changed
//     is not called.
//   - The deadline covers the writing: a server that stops reading is ended.
//   - An error of the server is an error, never a result.
//   - The idempotency key travels in the call's _meta, as [MetaKey].
package mcptools
