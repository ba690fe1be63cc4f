// Package toolbin builds pinned command-line tools for the tests that drive
// them. It is used by tests and developers only, never by a worker or client.
//
// The versions stand in modules of their own (tests/temporalcli/go.mod,
// tests/versitygw/go.mod), so
// that a tool's dependencies never enter the root module. [TemporalCLI] is the
// entry point.
package toolbin
