package sqlquery

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/turnkeel/turnkeel/tooldefs"
)

const (
	// maxMessage bounds one row as the server sends it.
	maxMessage = 4 << 20

	// partingWait is how long a server may take to end a query that is cancelled,
	// and to say goodbye.
	partingWait = 2 * time.Second
)

// declare puts the model's text where PostgreSQL's grammar takes a SELECT and
// nothing else: no second statement (the extended protocol takes one), no INTO,
// and no WITH that changes data.
const declare = "DECLARE turnkeel_query NO SCROLL CURSOR WITHOUT HOLD FOR "

// boundFiles keeps a sort from filling the server's disk. Only a superuser may set it.
const boundFiles = `SELECT pg_catalog.set_config('temp_file_limit', '1GB', true) WHERE pg_catalog.current_setting('is_superuser') OPERATOR(pg_catalog.=) 'on' ` +
	`AND pg_catalog.current_setting('temp_file_limit') OPERATOR(pg_catalog.=) '-1'; `

// queryPostgres asks the server, over a connection of its own that is closed
// afterwards, so that nothing of a session (a lock, a setting, LISTEN) is left.
// limited ends with the query's time, ctx with the call.
func (q *querier) queryPostgres(ctx, limited context.Context, call *tooldefs.Call, to source, query string, result *table) error {
	conn, err := connect(ctx, to)
	if err != nil {
		return err
	}
	defer goodbye(conn)
	path, err := q.begin(limited, conn, to.searchPath())
	if err == nil {
		err = q.roles.check(limited, conn, call, to)
	}
	if err == nil {
		err = checkFunctions(limited, conn, query, path)
	}
	if err == nil {
		err = fetch(limited, conn, query, result)
	}
	return postgresError(err)
}

// begin opens a transaction that cannot write; it is never committed. Until the
// savepoint is rolled back, names are the server's own, whatever the role's search
// path has in front of them: path is that, as an array's text.
func (q *querier) begin(ctx context.Context, conn *pgconn.PgConn, searchPath string) (path []byte, err error) {
	ms := q.within.Milliseconds()
	if searchPath != "" {
		searchPath = `SELECT pg_catalog.set_config('search_path', '` + strings.ReplaceAll(searchPath, `'`, `''`) + `', true); `
	}
	results, err := conn.Exec(ctx, fmt.Sprintf(`BEGIN TRANSACTION READ ONLY; `+
		`SET LOCAL statement_timeout = %d; SET LOCAL lock_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = %d; `+
		`SET LOCAL standard_conforming_strings = on; SET LOCAL client_encoding = 'UTF8'; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off; `+
		`SET LOCAL datestyle = ISO; SET LOCAL intervalstyle = postgres; SET LOCAL bytea_output = hex; SET LOCAL extra_float_digits = 1; `+
		boundFiles+`%sSAVEPOINT own_names; SELECT pg_catalog.current_schemas(true)::pg_catalog.text; SET LOCAL search_path = pg_catalog; `+
		`SELECT pid FROM pg_stat_get_activity(NULL) WHERE pg_get_userbyid(usesysid) = current_user AND state = 'active' AND query ~ '^(DECLARE|FETCH FORWARD [0-9]+ FROM) turnkeel_query' `+
		`AND wait_event_type IS DISTINCT FROM 'Client' AND xact_start < clock_timestamp() - interval '%d ms'`, ms, ms, 2*ms, searchPath, ms+q.overdue.Milliseconds())).ReadAll()
	if err != nil {
		return nil, err
	}
	if left := results[len(results)-1].Rows; len(left) > 0 {
		return nil, fmt.Errorf("the server has not ended an earlier query of this role (process %s in pg_stat_activity), which was told to end: "+
			"some of PostgreSQL's functions look for that only when they are done. No other query is begun until it has ended", left[0][0])
	}
	return results[len(results)-3].Rows[0][0], nil
}

// fetch runs the query as far as the result takes rows, in one exchange that ends
// the transaction too.
func fetch(ctx context.Context, conn *pgconn.PgConn, query string, result *table) error {
	batch := &pgconn.Batch{}
	for _, statement := range []string{"ROLLBACK TO own_names", declare + query, fmt.Sprintf("FETCH FORWARD %d FROM turnkeel_query", result.limit+1), "ROLLBACK"} {
		batch.ExecParams(statement, nil, nil, nil, nil)
	}
	results := conn.ExecBatch(ctx, batch)
	for n := 0; results.NextResult(); n++ {
		reader := results.ResultReader()
		if n == 2 {
			full, err := rows(reader, result)
			if full || err != nil {
				return err // the rest is not read: the connection ends here
			}
		}
		if _, err := reader.Close(); err != nil {
			break // which results have too
		}
	}
	return results.Close()
}

// rows reads what the result takes; full says that there is more.
func rows(reader *pgconn.ResultReader, result *table) (full bool, err error) {
	fields := reader.FieldDescriptions()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	if err := result.columns(names); err != nil {
		return false, err
	}
	for reader.NextRow() {
		row := make([]any, len(fields))
		for i, value := range reader.Values() {
			row[i] = postgresValue(fields[i].DataTypeOID, value, result)
		}
		if !result.add(row) {
			return true, nil
		}
	}
	return false, nil
}

// postgresValue is one value, from PostgreSQL's text. Numbers are numbers, as
// far as JSON has them; what is not known is its text.
func postgresValue(oid uint32, value []byte, result *table) any {
	if value == nil {
		return nil
	}
	switch oid {
	case pgtype.BoolOID:
		return string(value) == "t"
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID, pgtype.Float4OID, pgtype.Float8OID, pgtype.NumericOID:
		if len(value) <= MaxCell && json.Valid(value) { // neither NaN nor Infinity is
			return json.Number(value)
		}
	}
	return result.text(string(head(value)))
}

// connect dials and logs in. A cancelled context cancels the query at the
// server, not only here.
func connect(ctx context.Context, to source) (*pgconn.PgConn, error) {
	config, err := to.config()
	if err != nil {
		return nil, err
	}
	config.MaxProtocolMessageBodyLen = maxMessage
	config.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) {}
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: partingWait}
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, connectError(err)
	}
	return conn, nil
}

// goodbye ends the transaction and the connection. What the server still sends of
// a result that is full is not waited for. A pooler keeps its own connection to the
// server only if the transaction was ended before.
func goodbye(conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), partingWait)
	defer cancel()
	if conn.IsBusy() {
		_ = conn.CancelRequest(ctx)
		_ = conn.Conn().Close()
	} else if conn.TxStatus() != 'I' {
		_, _ = conn.Exec(ctx, "ROLLBACK").ReadAll()
	}
	_ = conn.Close(ctx)
}

// roles remembers the addresses whose role was looked at. It is safe for
// concurrent use.
type roles struct{ seen sync.Map }

// check warns, once and in the worker's log, of a role that may do more than
// read: the boundary here is the only line then, and should be the second.
func (r *roles) check(ctx context.Context, conn *pgconn.PgConn, call *tooldefs.Call, to source) error {
	if _, seen := r.seen.Load(to.url.String()); seen {
		return nil
	}
	err := checkRole(ctx, conn, call)
	if err == nil {
		r.seen.Store(to.url.String(), true)
	}
	return err
}

func checkRole(ctx context.Context, conn *pgconn.PgConn, call *tooldefs.Call) error {
	r := conn.ExecParams(ctx, `SELECT current_user, rolsuper OR EXISTS (SELECT FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid `+
		`WHERE m.member = r.oid AND g.rolname IN ('pg_write_server_files', 'pg_execute_server_program', 'pg_write_all_data')) FROM pg_roles r WHERE rolname = current_user`, nil, nil, nil, nil).Read()
	if r.Err != nil {
		return r.Err
	}
	if len(r.Rows) == 1 && string(r.Rows[0][1]) == "t" {
		call.Logger().Warn("the role of "+URLVariable+" may do more than read; give the agent a role of its own with SELECT on what it may know",
			"tool", Name, "role", string(r.Rows[0][0]))
	}
	return nil
}
