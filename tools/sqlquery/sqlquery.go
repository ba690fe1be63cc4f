// Package sqlquery is the built-in tool sql_query: it reads a PostgreSQL or
// SQLite database, and cannot write it. It is worker-side; start at [Builtin].
//
// The boundary is the database engine's, not a list of words. In PostgreSQL the
// model's text is the body of a cursor in a read-only transaction that is rolled
// back, on a connection that is closed after each call; what such a transaction
// does not hold back, functions with effects, is refused by what the server's own
// catalogue says of them. In SQLite the file is opened read-only, and an
// authorizer allows reading alone. Time, rows, bytes and memory are bounded.
//
// The last line is the database's role: give it one that may read what the agent
// may know, and nothing else.
package sqlquery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// Name is the name of the built-in and of its only tool.
const Name = "sql_query"

// URLVariable names the database: see [Builtin].
const URLVariable = "SQL_DATABASE_URL"

// Bounds of one call.
const (
	MaxQueryTime = 20 * time.Second // of the query itself; the engine ends it
	Timeout      = 30 * time.Second // of the whole call, the connection included
	MaxBytes     = 30_000           // of the rows, as JSON: what a model is shown of one result
	MaxCell      = 2_000            // runes of one value
	MaxColumns   = 100
)

// Query is what the model gives.
type Query struct {
	Query string `json:"query" jsonschema:"description=One SELECT statement in the database's own dialect,minLength=1,maxLength=10000,pattern=\\S"`
	Limit int    `json:"limit" jsonschema:"description=How many rows to return at most,minimum=1,maximum=500,default=100"`
}

// Table is what the model reads.
type Table struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"` // never nil; numbers keep every digit

	// Truncated says that there is more than Rows hold; Note says why and what
	// to do about it.
	Truncated bool   `json:"truncated"`
	Note      string `json:"note,omitempty"`
}

// Builtin is the tool for [turnkeel.Options.Builtins]. SQL_DATABASE_URL is
// postgres://user:password@host:5432/database, or sqlite: and the path of a file.
// A relative path starts in the worker's folder, and in an agent's file in the
// folder of that file. Each agent has its own value of it.
//
// [turnkeel.Options.Builtins]: https://pkg.go.dev/github.com/turnkeel/turnkeel#Options
func Builtin() tooldefs.Builtin {
	return tooldefs.Builtin{
		Name: Name, Env: []string{URLVariable}, FromFile: besideFile,
		New: func(tooldefs.BuiltinDeps) ([]*tooldefs.Tool, error) {
			return []*tooldefs.Tool{tool(MaxQueryTime)}, nil
		},
	}
}

// querier runs queries, each within so much time.
type querier struct {
	within  time.Duration
	overdue time.Duration // how long after it a query may still be ending at a server
	roles   roles
}

func tool(within time.Duration) *tooldefs.Tool {
	return (&querier{within: within, overdue: MaxQueryTime / 2}).tool()
}

func (q *querier) tool() *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[Query, Table]{
		Name: Name,
		Description: "Reads the database with one SELECT statement and returns columns and rows. It cannot change anything. " +
			"Ask for what you need: aggregate in SQL, and name columns rather than *. " +
			"Tables are listed in information_schema.tables (PostgreSQL) or sqlite_schema (SQLite).",
		Effects: tooldefs.None, Class: tooldefs.SafeToRetry, ParallelSafe: tooldefs.Always, MaxConcurrency: 4,
		Timeout: Timeout, Env: []string{URLVariable},
		Summary: func(in Query) string { return Name + " " + in.Query },
		Handler: func(ctx context.Context, call *tooldefs.Call, in Query) (Table, error) {
			return q.run(ctx, call, in)
		},
	})
}

// run finds the engine and asks it. The query's own time is a deadline on our
// side too, should the engine not keep it.
func (q *querier) run(ctx context.Context, call *tooldefs.Call, in Query) (Table, error) {
	if err := readable(in.Query); err != nil {
		return Table{}, err
	}
	to, err := parseSource(call.Env(URLVariable))
	if err != nil {
		return Table{}, err
	}
	overrun := fmt.Errorf("the query ran longer than %s and was ended; ask for less: filter, aggregate, or use an indexed column", q.within)
	limited, cancel := context.WithTimeoutCause(ctx, q.within, overrun)
	defer cancel()
	result := newTable(in.Limit)
	if to.file != "" {
		err = querySQLite(limited, to.file, in.Query, result)
	} else {
		err = q.queryPostgres(ctx, limited, call, to, in.Query, result)
	}
	switch {
	case err == nil:
		return result.done(), nil
	case ctx.Err() != nil: // the call's own end
		return Table{}, fmt.Errorf("%s: %w", Name, context.Cause(ctx))
	case limited.Err() != nil:
		return Table{}, overrun
	}
	return Table{}, err
}

// readable refuses what the engines would read differently from people and from
// each other: a NUL ends a statement for SQLite alone.
func readable(query string) error {
	if !utf8.ValidString(query) || strings.ContainsRune(query, 0) {
		return errors.New("the query holds a NUL or is not valid UTF-8; write it as plain text")
	}
	return nil
}
