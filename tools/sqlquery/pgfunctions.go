package sqlquery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// harmless are PostgreSQL's own functions that its catalogue calls volatile and
// that change nothing: they give another value each time, or read.
var harmless = []string{"bernoulli", "clock_timestamp", "currval", "gen_random_uuid", "inet_client_addr", "lastval", "pg_blocking_pids", "pg_column_size", "pg_database_size",
	"pg_indexes_size", "pg_is_in_recovery", "pg_relation_size", "pg_size_pretty", "pg_table_size", "pg_tablespace_size", "pg_total_relation_size",
	"random", "random_normal", "system", "timeofday", "uuidv4", "uuidv7"}

// harmlessInC are those of PostgreSQL's extensions, by their name in C.
var harmlessInC = []string{"normal_rand", "pg_buffercache_pages", "pg_random_bytes", "pg_random_uuid", "pg_stat_statements", "pg_stat_statements_1_2", "pg_stat_statements_1_3",
	"pg_stat_statements_1_8", "pg_stat_statements_1_9", "pg_stat_statements_1_10", "pg_stat_statements_1_11", "pg_stat_statements_1_12", "pg_stat_statements_info",
	"tsm_system_rows_handler", "tsm_system_time_handler", "uuid_generate_v1", "uuid_generate_v1mc", "uuid_generate_v4"}

// burning are PostgreSQL's own that it calls stable, and that use up an id of the
// whole server.
var burning = []string{"pg_current_xact_id", "txid_current"}

// running are PostgreSQL's own that it calls stable, and that read what a text
// names: what that is, and what it calls, nobody has looked at.
var running = []string{"database_to_xml", "database_to_xml_and_xmlschema", "pg_input_error_info", "pg_input_is_valid",
	"schema_to_xml", "schema_to_xml_and_xmlschema", "table_to_xml", "table_to_xml_and_xmlschema"}

// runningInC are those of PostgreSQL's extensions, by their name in C, that run a
// text as SQL.
var runningInC = []string{"connectby_text", "connectby_text_serial", "crosstab", "crosstab_hash", "xpath_table"}

// secret are the server's own tables and views of passwords and of who may log in.
// Their owner may read them; a model need not.
var secret = []string{"_pg_user_mappings", "pg_authid", "pg_file_settings", "pg_hba_file_rules", "pg_ident_file_mappings", "pg_shadow", "pg_subscription",
	"pg_user_mapping", "pg_user_mappings", "user_mapping_options"}

// implied are operators that words of the language stand for: IN, BETWEEN, CASE,
// NULLIF, USING, LIKE, SIMILAR TO.
var implied = []string{"=", "<>", "<", ">", "<=", ">=", "~~", "!~~", "~~*", "!~~*", "~", "!~"}

// checkFunctions refuses what a read-only transaction does not hold back:
// functions that act outside of it (files, other sessions, other servers, locks,
// settings, sleep), called by name or by what the query names. Which those are
// the server says: a function whose author calls it volatile may do anything. A
// name that several functions have is refused if one of them is.
func checkFunctions(ctx context.Context, conn *pgconn.PgConn, query string, path []byte) error {
	tokens, err := lex(query)
	if err != nil {
		return err
	}
	called := calls(tokens)
	schemas, names, fields := make([]string, len(called)), make([]string, len(called)), make([]string, len(called))
	for i, c := range called {
		schemas[i], names[i], fields[i] = c.schema, c.name, c.field
	}
	lists := [][]byte{array(harmless), array(burning), array(running), array(runningInC), array(harmlessInC), array(secret), array(names)}
	more, err := judge(ctx, conn, named, append(lists, array(schemas), array(fields), array(words(tokens)), array(operators(tokens)), path))
	if err == nil && len(more) > 0 {
		_, err = judge(ctx, conn, followed, append(lists, array(more)))
	}
	return err
}

// judge asks a step of the policy. more are objects whose definitions are to be
// looked at.
func judge(ctx context.Context, conn *pgconn.PgConn, step string, parameters [][]byte) (more []string, err error) {
	r := conn.ExecParams(ctx, step, parameters, nil, nil, nil).Read()
	if r.Err != nil {
		return nil, r.Err
	}
	for _, row := range r.Rows {
		if string(row[0]) == "more" {
			more = append(more, string(row[1]))
		}
	}
	return more, refused(r.Rows)
}

// refused says what the policy found: its kind, its name, and whether the query
// names it itself.
func refused(rows [][][]byte) error {
	kinds := []struct{ kind, direct, why string }{
		{"runs", "t", "the query calls %s, which runs a text as SQL"},
		{"runs", "f", "what the query reads calls %s, which runs a text as SQL"},
		{"effects", "t", "the query calls %s, which may have effects; a function of your own that only reads can be declared STABLE"},
		{"effects", "f", "what the query reads (a view, a type, an operator, a function) calls %s, which may have effects; a function of your own that only reads can be declared STABLE"},
		{"foreign", "t", "the query reads %s, which is a foreign table: what its server does is not known here"},
		{"secret", "t", "the query reads %s, which holds passwords or who may log in"},
	}
	for _, k := range kinds {
		var found []string
		for _, row := range rows {
			if string(row[0]) == k.kind && string(row[2]) == k.direct {
				found = append(found, string(row[1]))
			}
		}
		if len(found) > 0 {
			return fmt.Errorf("%w: "+k.why, errReadOnly, strings.Join(found[:min(len(found), 10)], ", "))
		}
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
// every name after a point, since x.f is f(x) where x has no column f. Words of the
// language that stand there too (IN, VALUES, a table's alias) are no functions for
// the server.
func calls(tokens []token) []qualified {
	var found []qualified
	scalars := scalars(tokens)
	for i, token := range tokens {
		call := i+1 < len(tokens) && tokens[i+1].kind == '('
		if token.kind != word || !call && (i == 0 || tokens[i-1].kind != '.') {
			continue
		}
		c := qualified{name: token.text}
		switch {
		case !call:
			c.field = ofRow
			if start := chain(tokens, i); start.kind != word || slices.Contains(scalars, start.text) {
				c.field = ofAny
			}
		case i >= 2 && tokens[i-1].kind == '.' && tokens[i-2].kind == word:
			c.schema = tokens[i-2].text
		}
		if !slices.Contains(found, c) {
			found = append(found, c)
		}
	}
	return found
}

// chain is the first of the names with points between them that end at i: a name,
// or the end of an expression.
func chain(tokens []token, i int) token {
	for i >= 2 && tokens[i].kind == word && tokens[i-1].kind == '.' {
		i -= 2
	}
	return tokens[i]
}

// scalars are names that may be one value, not a row: a function in FROM, and what
// is named after a parenthesis, as such a function is, or after a value of the
// language's own, like CURRENT_USER.
func scalars(tokens []token) []string {
	found := slices.Clone(values)
	for i, t := range tokens {
		if t.kind != word {
			continue
		}
		before := i - 1
		if before >= 1 && tokens[before].text == "as" {
			before--
		}
		called := i+1 < len(tokens) && tokens[i+1].kind == '('
		if called || before >= 0 && (tokens[before].kind == ')' || slices.Contains(values, tokens[before].text)) {
			found = append(found, t.text)
		}
	}
	return found
}

// values are words that stand for a value, also in FROM.
var values = []string{"current_catalog", "current_date", "current_role", "current_schema", "current_time", "current_timestamp", "current_user",
	"localtime", "localtimestamp", "session_user", "system_user", "user"}

// words are the names and words of a query, each once.
func words(tokens []token) []string {
	var found []string
	for _, token := range tokens {
		if token.kind == word {
			found = append(found, token.text)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// operators are the runs of characters in which a query's operators are, and those
// that need none.
func operators(tokens []token) []string {
	found, run := slices.Clone(implied), ""
	for _, token := range tokens {
		if token.kind != word && strings.ContainsRune("+-*/<>=~!@#%^&|`?", token.kind) {
			run += string(token.kind)
			continue
		}
		if run != "" {
			found, run = append(found, run), ""
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

type qualified struct {
	schema, name string
	field        string // written like a column: a call only if it takes a row, or anything; else empty
}

const (
	ofRow = "row"
	ofAny = "any"
)
