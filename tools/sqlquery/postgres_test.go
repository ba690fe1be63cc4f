package sqlquery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

const pgShop = `
CREATE TABLE orders (id bigint PRIMARY KEY, item text, cents numeric, paid boolean, data jsonb, raw bytea);
INSERT INTO orders VALUES (1, 'teapot', 4200.50, true, '{"a": 1}', '\x00ff'), (2, 'it''s; DELETE FROM orders --', 9007199254740993, false, NULL, NULL), (3, 'cup', 'NaN', NULL, NULL, NULL);
CREATE TABLE "select" ("drop" text, "nextval" int); INSERT INTO "select" VALUES ('update', 1);
CREATE SEQUENCE tickets; SELECT nextval('tickets');
SELECT lo_from_bytea(4242, 'a large object');
CREATE FUNCTION wipe() RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM orders; RETURN 1; END';
CREATE FUNCTION of_row(orders) RETURNS text LANGUAGE sql AS 'SELECT nextval(''tickets'')::text';
CREATE FUNCTION sly() RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN DELETE FROM orders; RETURN 1; END';
CREATE FUNCTION slyer() RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN PERFORM nextval(''tickets''); RETURN 1; END';
CREATE FUNCTION total() RETURNS numeric LANGUAGE sql STABLE AS 'SELECT sum(cents) FROM orders WHERE id = 1';
CREATE VIEW wiping AS SELECT wipe();
CREATE FUNCTION "Café"() RETURNS int LANGUAGE plpgsql AS 'BEGIN DELETE FROM orders; RETURN 1; END';
`

// Y21: rows come as they are, and names and literals that look like keywords work.
func TestY21_Postgres(t *testing.T) {
	t.Parallel()
	address := postgres(t).url("writer", "shop")
	for _, tt := range []struct{ sql, want string }{
		{`SELECT id, item, cents, paid, data, raw FROM orders ORDER BY id`, `{"columns":["id","item","cents","paid","data","raw"],"rows":[[1,"teapot",4200.50,true,"{\"a\": 1}","\\x00ff"],[2,"it's; DELETE FROM orders --",9007199254740993,false,null,null],[3,"cup","NaN",null,null,null]],"truncated":false}`},
		{`SELECT "drop", nextval FROM "select" WHERE "drop" = 'update' -- DELETE; ;`, `{"columns":["drop","nextval"],"rows":[["update",1]],"truncated":false}`},
		{`SELECT 'pg_sleep(1); nextval(''tickets'')' AS "delete", $x$ lo_import('y') $x$ AS setval;`, `{"columns":["delete","setval"],"rows":[["pg_sleep(1); nextval('tickets')"," lo_import('y') "]],"truncated":false}`},
		{`/* pg_sleep(1) /* nested */ */ WITH insert AS (SELECT 1 AS update) SELECT update FROM insert`, `{"columns":["update"],"rows":[[1]],"truncated":false}`},
		{`VALUES (1, E'it\'s')`, `{"columns":["column1","column2"],"rows":[[1,"it's"]],"truncated":false}`},
		{`TABLE "select"`, `{"columns":["drop","nextval"],"rows":[["update",1]],"truncated":false}`},
		{`SELECT count(*), max(upper(item)), total(), round(avg(cents) FILTER (WHERE id = 1), 1) FROM orders WHERE item IN ('teapot')`, `{"columns":["count","max","total","round"],"rows":[[1,"TEAPOT",4200.50,4200.5]],"truncated":false}`},
		{`SELECT id FROM orders WHERE false`, `{"columns":["id"],"rows":[],"truncated":false}`},
		{`SELECT 1e20::float8 * 10 AS big, -1::int2 AS small, '2026-11-30'::date AS day, ARRAY[1,2] AS list`, `{"columns":["big","small","day","list"],"rows":[[1e+21,-1,"2026-11-30","{1,2}"]],"truncated":false}`},
		{`SELECT random() < 2 AS yes, clock_timestamp() > '2020-01-01' AS later`, `{"columns":["yes","later"],"rows":[[true,true]],"truncated":false}`},
		{`SELECT count(id) FROM orders TABLESAMPLE bernoulli (100)`, `{"columns":["count"],"rows":[[3]],"truncated":false}`},
		{`SELECT g FROM generate_series(1, 3) g`, `{"columns":["g"],"rows":[[1],[2],[3]],"truncated":false}`},
		{`SELECT nothing FROM orders`, `column "nothing" does not exist (at character 8)`},
		{`SELECT 1/0`, "division by zero"},
		{`SELECT repeat('é', 100000)::int`, "éé… (SQLSTATE 22P02)"},
		{`SELECT s.nextval, s."drop" FROM "select" AS s JOIN orders USING (id)`, `column "id" specified in USING clause does not exist`},
		{`SELECT s.nextval FROM "select" s`, `{"columns":["nextval"],"rows":[[1]],"truncated":false}`},
		{`SELECT "select".nextval, (SELECT public."select".nextval FROM "select") FROM "select"`, `{"columns":["nextval","nextval"],"rows":[[1,1]],"truncated":false}`},
		{`SELECT $1`, "the query has parameters, like $1 or ?: write the values"},
		{`EXPLAIN SELECT 1`, "one SELECT statement is run, and nothing else"},
		{`SHOW ALL`, "one SELECT statement is run, and nothing else"},
	} {
		_, got, err := query(t, time.Minute, address, tt.sql, 100)
		if strings.HasPrefix(tt.want, "{") && (err != nil || got != tt.want) || !strings.Contains(got, tt.want) {
			t.Errorf("%s\n got %s, %v\nwant %s", tt.sql, got, err, tt.want)
		}
	}
	got, _, err := query(t, time.Minute, address, `SELECT * FROM generate_series(1, 1000000) g`, 500)
	if err != nil || len(got.Rows) != 500 || !got.Truncated || !strings.Contains(got.Note, "limit of 500") {
		t.Errorf("got %d rows, %v, %v", len(got.Rows), got.Note, err)
	}
	got, _, err = query(t, time.Minute, address, `SELECT repeat('é', 3000) FROM generate_series(1, 500)`, 500)
	if err != nil || len(got.Rows) != 7 || !strings.Contains(got.Note, "left out") || !strings.Contains(got.Note, "are cut") {
		t.Errorf("got %d rows, %v, %v", len(got.Rows), got.Note, err)
	}
	if _, text, err := query(t, time.Minute, address, `SELECT repeat('x', 5000000)`, 1); err == nil || !strings.Contains(text, "a row is larger than") {
		t.Errorf("got %.300s", text)
	}
}

const (
	onlySelect = "one SELECT statement is run, and nothing else"
	onlyReads  = "only statements that read are run"
)

// attacksOnPostgres are told by what the model reads. FILE is a path that the
// server could write.
var attacksOnPostgres = []struct{ sql, want string }{
	{`DELETE FROM orders`, onlySelect},
	{`INSERT INTO orders VALUES (9) RETURNING id`, onlySelect},
	{`TRUNCATE orders`, onlySelect},
	{`WITH x AS (DELETE FROM orders RETURNING id) SELECT * FROM x`, onlyReads},
	{`WITH x AS (UPDATE orders SET cents = 0 RETURNING 1) SELECT 1`, onlyReads},
	{`WITH x AS MATERIALIZED (INSERT INTO orders (id) VALUES (77)) SELECT 1`, onlyReads},
	{`SELECT * FROM orders FOR UPDATE`, onlyReads},
	{`SELECT * INTO copied FROM orders`, ""},
	{`SELECT 1; DELETE FROM orders`, ""},
	{`SELECT 1; COMMIT; BEGIN; DELETE FROM orders; COMMIT`, ""},
	{"SELECT 1 -- ;\n; DELETE FROM orders", ""},
	{`SELECT 1; SET TRANSACTION READ WRITE`, ""},
	{`SET TRANSACTION READ WRITE`, onlySelect},
	{`SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE`, onlySelect},
	{`BEGIN READ WRITE`, onlySelect},
	{`COMMIT`, onlySelect},
	{`ROLLBACK`, onlySelect},
	{`DO $$ BEGIN DELETE FROM orders; END $$`, onlySelect},
	{`CALL wipe()`, onlyReads},
	{`SELECT o.of_row FROM orders o`, "calls public.of_row"},
	{`SELECT (o)."of_row" FROM orders o`, "calls public.of_row"},
	{`SELECT ('/etc/passwd'::text).pg_read_file`, "calls pg_catalog.pg_read_file"},
	{`SELECT (CAST('/' AS text))."pg_ls_dir"`, "calls pg_catalog.pg_ls_dir"},
	{`SELECT ((3600.0::float8)).pg_sleep`, "calls pg_catalog.pg_sleep"},
	{`SELECT (x).pg_sleep FROM (SELECT 3600::float8 AS x) y`, "calls pg_catalog.pg_sleep"},
	{`SELECT (x[1]).pg_sleep FROM (SELECT ARRAY[3600::float8] AS x) y`, "calls pg_catalog.pg_sleep"},
	{`SELECT (ARRAY[3600::float8])[1].pg_sleep`, "calls pg_catalog.pg_sleep"},
	{`SELECT g . /* x */ pg_sleep FROM unnest(ARRAY[3600::float8]) g`, "calls pg_catalog.pg_sleep"},
	{`SELECT g.pg_sleep FROM unnest(ARRAY[3600::float8]) AS g`, "calls pg_catalog.pg_sleep"},
	{`SELECT unnest.pg_sleep FROM unnest(ARRAY[3600::float8])`, "calls pg_catalog.pg_sleep"},
	{`SELECT (o).cents.float8.pg_sleep FROM orders o`, "calls pg_catalog.pg_sleep"},
	{`SELECT (pid).pg_terminate_backend FROM pg_stat_activity`, "calls pg_catalog.pg_terminate_backend"},
	{`SELECT ('tickets'::regclass).nextval`, "calls pg_catalog.nextval"},
	{`SELECT ('dbname=shop'::text).dblink_connect`, "calls public.dblink_connect"},
	{`EXECUTE x`, onlySelect},
	{`PREPARE x AS DELETE FROM orders`, onlySelect},
	{`EXPLAIN ANALYZE DELETE FROM orders`, onlySelect},
	{`COPY orders TO PROGRAM 'touch FILE'`, onlySelect},
	{`COPY (SELECT 1) TO 'FILE'`, onlySelect},
	{`COPY orders FROM PROGRAM 'echo 9'`, onlySelect},
	{`LISTEN x`, onlySelect},
	{`NOTIFY x`, onlySelect},
	{`LOCK TABLE orders`, onlySelect},
	{`VACUUM`, onlySelect},
	{`CHECKPOINT`, onlySelect},
	{`CREATE TABLE x (y int)`, onlySelect},
	{`CREATE TEMP TABLE x AS SELECT 1`, onlySelect},
	{`DROP TABLE orders CASCADE`, onlySelect},
	{`ALTER ROLE writer SUPERUSER`, onlySelect},
	{`GRANT ALL ON orders TO public`, onlySelect},
	{`SET ROLE postgres`, onlySelect},
	{`SET statement_timeout = 0`, onlySelect},
	{`LOAD 'auto_explain'`, onlySelect},
	{`SELECT nextval('tickets')`, "the query calls pg_catalog.nextval"},
	{`SELECT setval('tickets', 99)`, "the query calls pg_catalog.setval"},
	{`SELECT pg_catalog . /* x */ "setval" ('tickets', 99)`, "the query calls pg_catalog.setval"},
	{"SELECT NEXTVAL\n--\n('tickets')", "the query calls pg_catalog.nextval"},
	{`SELECT U&"n\0065xtval"('tickets')`, `names written as U&"…" are not taken`},
	{`SELECT U&"n!0065xtval" UESCAPE '!' ('tickets')`, `names written as U&"…" are not taken`},
	{"SELECT E'a'\n'\\', nextval('tickets'), '", "goes on in another line"},
	{"SELECT E'a' -- x\n'\\'||nextval('tickets')||'", "goes on in another line"},
	{`SELECT 'a\', nextval('tickets'), 'b'`, "the query calls pg_catalog.nextval"},
	{`SELECT $a$x$b$y$a$, nextval('tickets')`, "the query calls pg_catalog.nextval"},
	{`SELECT 1 AS a$$, nextval('tickets') AS b$$`, "the query calls pg_catalog.nextval"},
	{`SELECT /* /* */ nextval('tickets')`, "not closed"},
	{`SELECT set_config('transaction_read_only', 'off', false)`, "the query calls pg_catalog.set_config"},
	{`SELECT set_config('statement_timeout', '0', false)`, "the query calls pg_catalog.set_config"},
	{`SELECT wipe()`, "the query calls public.wipe"},
	{`SELECT "Café"()`, "the query calls public.Café"},
	{`SELECT public.wipe() FROM orders`, "the query calls public.wipe"},
	{`SELECT sly()`, "DELETE is not allowed in a non-volatile function"},
	{`SELECT slyer()`, onlyReads},
	{`SELECT * FROM wiping`, onlyReads},
	{`SELECT pg_sleep(3600)`, "the query calls pg_catalog.pg_sleep"},
	{`SELECT * FROM pg_sleep_for('1 hour')`, "the query calls pg_catalog.pg_sleep_for"},
	{`SELECT lo_create(7)`, "the query calls pg_catalog.lo_create"},
	{`SELECT lo_unlink(4242)`, "the query calls pg_catalog.lo_unlink"},
	{`SELECT lo_put(4242, 0, 'x')`, "the query calls pg_catalog.lo_put"},
	{`SELECT lo_export(4242, 'FILE')`, "the query calls pg_catalog.lo_export"},
	{`SELECT lo_import('/etc/passwd')`, "the query calls pg_catalog.lo_import"},
	{`SELECT pg_read_file('/etc/passwd')`, "the query calls pg_catalog.pg_read_file"},
	{`SELECT pg_ls_dir('/')`, "the query calls pg_catalog.pg_ls_dir"},
	{`SELECT dblink_exec('dbname=shop', 'DELETE FROM orders')`, "the query calls public.dblink_exec"},
	{`SELECT * FROM dblink('dbname=shop', 'DELETE FROM orders RETURNING id') AS x(id bigint)`, "the query calls public.dblink"},
	{`SELECT query_to_xml('DELETE FROM orders', true, true, '')`, "the query calls pg_catalog.query_to_xml"},
	{`SELECT ts_rewrite('a'::tsquery, 'SELECT pg_sleep(3600)::text::tsquery, 1')`, "the query calls pg_catalog.ts_rewrite"},
	{`SELECT pg_notify('x', 'y')`, "the query calls pg_catalog.pg_notify"},
	{`SELECT pg_advisory_lock(1)`, "the query calls pg_catalog.pg_advisory_lock"},
	{`SELECT pg_try_advisory_lock_shared(1)`, "the query calls pg_catalog.pg_try_advisory_lock_shared"},
	{`SELECT pg_terminate_backend(pid) FROM pg_stat_activity`, "the query calls pg_catalog.pg_terminate_backend"},
	{`SELECT pg_cancel_backend(pid) FROM pg_stat_activity`, "the query calls pg_catalog.pg_cancel_backend"},
	{`SELECT pg_reload_conf()`, "the query calls pg_catalog.pg_reload_conf"},
	{`SELECT pg_rotate_logfile()`, "the query calls pg_catalog.pg_rotate_logfile"},
	{`SELECT pg_switch_wal()`, "the query calls pg_catalog.pg_switch_wal"},
	{`SELECT pg_stat_reset()`, "the query calls pg_catalog.pg_stat_reset"},
	{`SELECT pg_logical_emit_message(false, 'x', 'y')`, "the query calls pg_catalog.pg_logical_emit_message"},
	{`SELECT pg_create_physical_replication_slot('x')`, "the query calls pg_catalog.pg_create_physical_replication_slot"},
	{`SELECT pg_export_snapshot()`, "the query calls pg_catalog.pg_export_snapshot"},
	{`SELECT * FROM ROWS FROM (nextval('tickets'), generate_series(1, 2)) AS x`, "the query calls pg_catalog.nextval"},
	{`SELECT (SELECT pg_sleep(3600))`, "the query calls pg_catalog.pg_sleep"},
	{`WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n) SELECT count(*) FROM n`, "statement timeout"},
	{`SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b, generate_series(1, 100000) c`, "statement timeout"},
	{`SELECT count(*) FROM (SELECT regexp_matches(repeat('a', 5000), '(a*)*(a*)*b', 'g') FROM generate_series(1, 1000000)) x`, ""},
	{`SELECT string_agg(repeat('x', 1000000), '') FROM generate_series(1, 100)`, "a row is larger"},
	{`SELECT repeat('x', 2000000000)`, ""},
	{`SELECT 1 FROM orders) UNION ALL (SELECT 2`, onlySelect},
	{"SELECT 1\x00; DELETE FROM orders", "NUL"},
}

// fingerprint is all that an attack could have changed, as the server's owner
// sees it.
const fingerprint = `
SELECT (SELECT string_agg(o::text, ';' ORDER BY id) FROM orders o), (SELECT string_agg(s::text, ';') FROM "select" s),
 (SELECT last_value FROM tickets), (SELECT string_agg(oid || ':' || encode(lo_get(oid), 'hex'), ';') FROM pg_largeobject_metadata),
 (SELECT string_agg(relname || relowner || coalesce(relacl::text, ''), ';' ORDER BY oid) FROM pg_class WHERE relnamespace = 'public'::regnamespace),
 (SELECT string_agg(rolname || rolsuper || coalesce(rolconfig::text, ''), ';' ORDER BY oid) FROM pg_roles),
 (SELECT count(*) FROM pg_replication_slots), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), (SELECT string_agg(setting, ';') FROM pg_settings WHERE source = 'configuration file')`

// Y21: the attack list leaves the data untouched, tried as a role that may write
// everything, and as the server's owner. Nobody is notified, no file is written.
func TestY21_Postgres_Attacks(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	const database = "stormed"
	_, err := server.exec("postgres", `CREATE DATABASE `+database+` OWNER writer`)
	_, err2 := server.execIn("postgres", database, `CREATE EXTENSION dblink`)
	_, err3 := server.execIn("writer", database, pgShop)
	before, err4 := server.execIn("postgres", database, fingerprint)
	dump, err5 := server.dump(database)
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	listener := listen(t, server, database)
	for _, role := range []string{"writer", "postgres"} {
		for i, tt := range attacksOnPostgres {
			file := filepath.Join(server.Dir, fmt.Sprintf("%s-%d", role, i))
			got, text, err := query(t, 300*time.Millisecond, server.url(role, database), strings.ReplaceAll(tt.sql, "FILE", file), 100)
			if err == nil || !strings.Contains(text, tt.want) && !strings.Contains(text, "ran longer than") {
				t.Errorf("%s: %.200s\n got %.300v, %.500s\nwant %s", role, tt.sql, got, text, tt.want)
			}
			if strings.Contains(text, password) {
				t.Errorf("%s: the password is in %s", tt.sql, text)
			}
			if _, err := os.Stat(file); err == nil {
				t.Errorf("%s: %s wrote a file", role, tt.sql)
			}
			after, err := server.execIn("postgres", database, fingerprint)
			if err != nil {
				t.Fatal(err)
			}
			if after != before {
				t.Fatalf("%s: %s\nchanged %s\nto %s", role, tt.sql, before, after)
			}
		}
	}
	if after, err := server.dump(database); err != nil || after != dump {
		t.Errorf("the database changed: %s, %v", difference(dump, after), err)
	}
	if notified := listener(); notified != "the end" {
		t.Errorf("notified: %s", notified)
	}
}

// listen hears what is notified on the channel x; the function returns the first,
// which it sends itself if nobody did.
func listen(t *testing.T, server *pgServer, database string) func() string {
	t.Helper()
	heard := make(chan string, 100)
	config, err := pgconn.ParseConfig(server.url("postgres", database))
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { heard <- n.Payload }
	conn, err := pgconn.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "LISTEN x").ReadAll(); err != nil {
		t.Fatal(err)
	}
	return func() string {
		if _, err := conn.Exec(t.Context(), "NOTIFY x, 'the end'").ReadAll(); err != nil {
			t.Fatal(err)
		}
		return <-heard
	}
}

// Y21: the engine's own boundary holds without the policy on functions too: the
// list again, straight into the transaction, but for what no transaction holds back.
func TestY21_Postgres_Transaction(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	for _, sql := range []string{`SELECT nextval('tickets')`, `SELECT setval('tickets', 99)`, `SELECT wipe()`, `SELECT set_config('transaction_read_only', 'off', false)`, `SELECT * FROM wiping`} {
		conn, err := pgconn.Connect(t.Context(), server.url("writer", "shop"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = conn.Exec(t.Context(), "BEGIN TRANSACTION READ ONLY; "+declare+sql+"; FETCH 1 FROM turnkeel_query").ReadAll()
		if err == nil {
			t.Errorf("%s ran", sql)
		}
		conn.Close(t.Context())
	}
}

// Y21: an interrupt ends the query at the server too.
func TestY21_Postgres_Interrupted(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	const mark = `/* to be interrupted */ `
	running := func() bool {
		n, err := server.exec("postgres", `SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'FETCH%' AND usename = 'writer' AND application_name = 'interrupted'`)
		return err == nil && strings.TrimSpace(n) == "1"
	}
	ctx, interrupt := context.WithCancelCause(t.Context())
	call := agenttest.NewCall(t, agenttest.CallOptions{Env: map[string]string{URLVariable: server.url("writer", "shop") + "?application_name=interrupted"}})
	ended := make(chan error, 1)
	go func() {
		_, err := (&querier{within: time.Hour}).run(ctx, call.Call, Query{Query: mark + `SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b, generate_series(1, 100000) c`, Limit: 1})
		ended <- err
	}()
	waitFor(t, func() bool { return len(ended) > 0 || running() })
	interrupt(errors.New("the turn was interrupted"))
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "the turn was interrupted") {
		t.Errorf("got %v", err)
	}
	waitFor(t, func() bool { return !running() })
}

// waitFor polls a condition.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for ctx, tick := t.Context(), time.NewTicker(20*time.Millisecond); !holds(); {
		select {
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		case <-tick.C:
		}
	}
}

// Y21: what keeps the tool from the database is said without the address, and
// asked again where that may help.
func TestY21_Postgres_Unreachable(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	for _, tt := range []struct {
		address, want string
		retry         bool
	}{
		{server.url("nobody", "shop"), `role "nobody" does not exist (SQLSTATE 28000); see SQL_DATABASE_URL`, false},
		{server.url("writer", "none"), `database "none" does not exist`, false},
		{server.url("busy", "shop"), "too many connections for role", true},
		{"postgres://writer:" + password + "@127.0.0.1:1/shop", "the database of SQL_DATABASE_URL cannot be reached", true},
		{"postgres://writer:" + password + "@" + server.Address + "/shop?sslmode=require", "cannot be reached", true},
		{server.url("writer", "shop") + "?sslmode=" + password, "SQL_DATABASE_URL cannot be used", false},
		{server.url("writer", "shop") + "?service=x", "the parameter service is not taken", false},
		{"postgres:///shop", "is neither postgres://", false},
		{"postgres://writer@" + server.Address, "is neither postgres://", false},
	} {
		tl := tool(time.Minute)
		call := agenttest.NewCall(t, agenttest.CallOptions{Env: map[string]string{URLVariable: tt.address}})
		_, err := call.Run(tl, `{"query":"SELECT 1"}`)
		verdict := tl.Judge(err)
		if err == nil || !strings.Contains(verdict.Text, tt.want) || verdict.Retry != tt.retry || verdict.Outcome != contract.OutcomeFailed {
			t.Errorf("%s: got %+v, %v", tt.address, verdict, err)
		}
		if strings.Contains(verdict.Text+fmt.Sprint(err, call.Log()), password) {
			t.Errorf("the password is in %s or %v", verdict.Text, err)
		}
	}
}

// Y21: a role that may do more is told of in the log.
func TestY21_Postgres_Role(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	for role, warned := range map[string]bool{"postgres": true, "writer": true, "reader": false} {
		call := agenttest.NewCall(t, agenttest.CallOptions{Env: map[string]string{URLVariable: server.url(role, "shop")}})
		if _, err := call.Run(tool(time.Minute), `{"query":"SELECT 1"}`); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(fmt.Sprint(call.Log()), "may do more than read"); got != warned {
			t.Errorf("%s: %v", role, call.Log())
		}
	}
	if _, text, err := query(t, time.Minute, server.url("reader", "shop"), `SELECT * FROM orders`, 1); err == nil || !strings.Contains(text, "permission denied for table orders") {
		t.Errorf("got %s", text)
	}
}
