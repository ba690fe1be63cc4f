// Command devserver is a Temporal server and its Web UI in one process, for development and tests.
//
// It reads Temporal's own static configuration (temporal-dev.yaml), keeps everything in one SQLite file, creates
// the default namespace and the search attributes that Turnkeel's workflows set, and prints one line of JSON on
// standard output when a client can use it. Everything else it has to say goes to standard error.
//
// It has a module of its own because the server cannot share one with the SDK that the worker uses, and because
// a worker should not carry 450 modules it never runs. Nothing imports it: starter, the tests and agenttest build
// it once and run it as a process (internal/devproc in the root module).
//
// Where to look:
//
//	flags.go      what can be asked for on the command line
//	config.go     the static configuration with the flags laid over it
//	ports.go      which ports are used, and what is said when one is taken
//	dynamic.go    the dynamic configuration that makes one shard quick (dynamicconfig.yaml)
//	lock.go       one devserver per database
//	database.go   the schema, in one transaction, before the server starts
//	namespace.go  the default namespace and its search attributes, likewise
//	server.go     the four services and the Web UI, started and stopped
//	ready.go      what has to work before the JSON line is printed
//	lifecycle.go  signals and the lifeline to the parent process
//	tests/        all of it, as a process: restarts, kills, refusals, what works right after the line; benchmarks
package main
