package sqlquery

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// harmless are PostgreSQL's own functions that its catalogue calls volatile and
// that change nothing: they give another value each time, or read.
var harmless = []string{"clock_timestamp", "currval", "gen_random_uuid", "inet_client_addr", "lastval", "pg_column_size", "pg_database_size", "pg_relation_size",
	"pg_size_pretty", "pg_table_size", "pg_total_relation_size", "pg_indexes_size", "random", "random_normal", "timeofday", "uuidv4", "uuidv7"}

// burning are PostgreSQL's own that it calls stable, and that use up an id of the
// whole server.
var burning = []string{"pg_current_xact_id", "txid_current"}

// running are functions of PostgreSQL's extensions, by their name in C, that run a
// text as SQL, and call themselves stable: what the text calls nobody has looked at.
var running = []string{"connectby_text", "connectby_text_serial", "crosstab", "crosstab_hash", "xpath_table"}

// checkFunctions refuses what a read-only transaction does not hold back:
// functions that act outside of it (files, other sessions, other servers, locks,
// settings, sleep). Which those are the server says: a function whose author
// calls it volatile may do anything, and one that is stable or immutable is kept
// from writing by the server itself. A name that several functions have is
// refused if one of them is.
func checkFunctions(ctx context.Context, conn *pgconn.PgConn, query string) error {
	called, err := calls(query)
	if err != nil || len(called) == 0 {
		return err
	}
	schemas, names, fields := make([]string, len(called)), make([]string, len(called)), make([]string, len(called))
	for i, c := range called {
		schemas[i], names[i], fields[i] = c.schema, c.name, strconv.FormatBool(c.field)
	}
	r := conn.ExecParams(ctx, `SELECT DISTINCT n.nspname, p.proname FROM unnest($1::text[], $2::text[], $4::bool[]) AS c(schema, name, field) `+
		`JOIN pg_catalog.pg_proc p ON p.proname = c.name::name JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace `+
		`WHERE (p.provolatile = 'v' OR n.nspname = 'pg_catalog' AND p.proname = ANY($5::text[]) `+
		`OR p.prosrc = ANY($6::text[]) AND p.prolang = (SELECT oid FROM pg_catalog.pg_language WHERE lanname = 'c') `+
		`OR p.prokind = 'a' AND EXISTS (SELECT FROM pg_catalog.pg_aggregate a JOIN pg_catalog.pg_proc f `+
		`ON f.oid IN (a.aggtransfn, a.aggfinalfn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn) WHERE a.aggfnoid = p.oid AND f.provolatile = 'v')) `+
		`AND (c.schema = '' OR c.schema = n.nspname) AND NOT (n.nspname = 'pg_catalog' AND p.proname = ANY($3::text[])) `+
		`AND (NOT c.field OR EXISTS (SELECT FROM pg_catalog.pg_type y WHERE y.oid = p.proargtypes[0] AND y.typtype IN ('c', 'd', 'p'))) ORDER BY 1, 2`,
		[][]byte{array(schemas), array(names), array(harmless), array(fields), array(burning), array(running)}, nil, nil, nil).Read()
	if r.Err != nil {
		return r.Err
	}
	var refused []string
	for _, row := range r.Rows {
		refused = append(refused, string(row[0])+"."+string(row[1]))
	}
	if len(refused) > 0 {
		return fmt.Errorf("%w: the query calls %s, which may have effects; a function of your own that only reads can be declared STABLE", errReadOnly, strings.Join(refused, ", "))
	}
	return nil
}

// array writes PostgreSQL's text of an array.
func array(values []string) []byte {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
	}
	return []byte("{" + strings.Join(quoted, ",") + "}")
}

// calls finds what is called in a query: every name before a parenthesis, and
// every name after a point, since t.f is f(t) where t has no column f. Words of the
// language that stand there too (IN, VALUES, a table's alias) are no functions for
// the server.
func calls(query string) ([]qualified, error) {
	tokens, err := lex(query)
	if err != nil {
		return nil, err
	}
	var found []qualified
	for i, token := range tokens {
		call := i+1 < len(tokens) && tokens[i+1].kind == '('
		if token.kind != word || !call && (i == 0 || tokens[i-1].kind != '.') {
			continue
		}
		c := qualified{name: token.text, field: !call}
		if call && i >= 2 && tokens[i-1].kind == '.' && tokens[i-2].kind == word {
			c.schema = tokens[i-2].text
		}
		if !slices.Contains(found, c) {
			found = append(found, c)
		}
	}
	return found, nil
}

type qualified struct {
	schema, name string
	field        bool // written like a column; a call only if it takes a row
}
