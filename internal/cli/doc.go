// Package cli is the starter command line: one file per command. Text goes to
// standard output for people; with --output json standard output is JSON only,
// one object or one per line. What is said on the way goes to standard error.
//
// The entry point is [Main].
package cli
