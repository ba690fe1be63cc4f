// Package devproc builds the development Temporal server of this repository
// (the nested module devserver/) and runs it as a process of its own. It is
// the only way by which `starter demo`, `starter dev`, the tests and the
// public agenttest package do so.
//
// The server is a process, not a library, because its dependencies must not
// enter the root module's go.mod. The first [Ensure] on a machine compiles it,
// which takes minutes; the binary is then kept in the user's cache directory
// under a hash of its sources, so that every later Ensure takes milliseconds.
//
// A [Server] never outlives the process that started it: the child watches
// its standard input (a pipe that closes when the parent dies, however it
// dies), and on Linux the kernel signals it as well.
//
// Linux and macOS.
package devproc
