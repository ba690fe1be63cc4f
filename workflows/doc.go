// Package workflows is the deterministic side of Turnkeel: it moves recorded
// data and decides from nothing else. It reads no registry, file, environment
// or machine clock, and it never sees a tool's schema or policy: everything
// that may differ between two deploys is evaluated by the worker inside the
// model call and comes back as data.
//
// The entry point is [RunTurn], in turn.go, which reads as a table of
// contents of a turn. A program of your own can run it as a child workflow,
// by name ([contract.WorkflowTurn]) or by the function.
package workflows
