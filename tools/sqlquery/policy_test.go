package sqlquery

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// traps are objects that a hostile query would like to find, each with effects that
// a read-only transaction does not hold back: another connection writes. HOST and
// PORT are the server's.
const traps = `
CREATE SCHEMA s;
CREATE TABLE s.tripped (how text);
CREATE FUNCTION s.trip(how text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  PERFORM dblink_exec('dbname=attacked host=HOST port=PORT user=postgres', format('INSERT INTO s.tripped VALUES (%L)', how)); RETURN 1; END $$;
CREATE TABLE orders (id int PRIMARY KEY, item text); INSERT INTO orders VALUES (1, 'teapot'), (2, 'cup');
CREATE FUNCTION s.op(int, int) RETURNS bool LANGUAGE sql AS 'SELECT s.trip(''operator'') > 0';
CREATE OPERATOR public.=== (LEFTARG = int, RIGHTARG = int, FUNCTION = s.op);
CREATE OPERATOR s.&&& (LEFTARG = int, RIGHTARG = int, FUNCTION = s.op);
CREATE TYPE s.money2 AS (v int);
CREATE FUNCTION s.tomoney(int) RETURNS s.money2 LANGUAGE plpgsql AS $$ BEGIN PERFORM s.trip('cast'); RETURN row($1); END $$;
CREATE CAST (int AS s.money2) WITH FUNCTION s.tomoney(int) AS IMPLICIT;
CREATE FUNCTION s.show(s.money2) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1.v::text';
CREATE DOMAIN s.posint AS int CHECK (s.trip('domain') > 0);
CREATE TYPE s.holder AS (p s.posint);
CREATE VIEW tripping AS SELECT s.trip('view') AS x;
CREATE VIEW outer_view AS SELECT x + 1 AS y FROM tripping;
CREATE VIEW limiting AS SELECT 1 AS a LIMIT s.trip('limit');
CREATE VIEW valuing AS VALUES (s.trip('values')), (2);
CREATE VIEW ruled AS SELECT 1 AS a; CREATE OR REPLACE RULE "_RETURN" AS ON SELECT TO ruled DO INSTEAD SELECT s.trip('rule') AS a;
CREATE VIEW logins AS SELECT rolname, rolpassword FROM pg_authid;
CREATE TABLE secured (id int); INSERT INTO secured VALUES (1); ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON secured USING (s.trip('policy') > 0);
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE users (l text) SERVER files OPTIONS (filename '/etc/passwd', format 'text', delimiter E'\x01');
CREATE FOREIGN TABLE prog (l text) SERVER files OPTIONS (program 'touch FILE; echo hi', format 'text');
CREATE TABLE parts (l text); ALTER FOREIGN TABLE prog INHERIT parts;
CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'HOST', port 'PORT', dbname 'attacked');
CREATE USER MAPPING FOR postgres SERVER loop OPTIONS (user 'postgres', password 'hunter22-secret');
CREATE FOREIGN TABLE remote (x int) SERVER loop OPTIONS (schema_name 'public', table_name 'tripping');
CREATE FUNCTION s.acc(int, int) RETURNS int LANGUAGE sql STABLE AS 'SELECT s.trip(''aggregate'')';
CREATE AGGREGATE s.agg(int) (sfunc = s.acc, stype = int, initcond = '0');
CREATE FUNCTION s.count_rows(t text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$ DECLARE n bigint; BEGIN EXECUTE 'SELECT count(*) FROM ' || t INTO n; RETURN n; END $$;
CREATE FUNCTION s.stably() RETURNS int LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$ BEGIN RETURN "s" . "trip" ('stable'); END $$;
CREATE FUNCTION s.reading() RETURNS int LANGUAGE sql STABLE AS 'SELECT y FROM outer_view';
CREATE FUNCTION s.atomic() RETURNS int STABLE BEGIN ATOMIC SELECT s.trip('atomic'); END;
CREATE FUNCTION s.poly(anyelement) RETURNS anyelement LANGUAGE sql IMMUTABLE AS 'SELECT CASE WHEN s.trip(''poly'') > 0 THEN $1 END';
CREATE FUNCTION s.of_row(orders) RETURNS text LANGUAGE sql STABLE AS 'SELECT s.trip(''row'')::text';
CREATE FUNCTION s.defaulted(a int DEFAULT 1, VARIADIC b int[] DEFAULT '{}') RETURNS int LANGUAGE sql STABLE AS 'SELECT s.trip(''default'')';
CREATE FUNCTION s.optional(a int DEFAULT s.trip('argument')) RETURNS int LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION s.distance(float8, float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN s.trip('range'); END $$;
CREATE TYPE s.span AS RANGE (subtype = float8, subtype_diff = s.distance);
CREATE FUNCTION s.of_name(name) RETURNS text LANGUAGE sql AS 'SELECT s.trip(''name'')::text';
CREATE TYPE s.odd AS (v int);
CREATE FUNCTION s.cmp(s.odd, s.odd) RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM s.trip('order'); RETURN ($1.v > $2.v)::int - ($1.v < $2.v)::int; END $$;
CREATE FUNCTION s.lt(s.odd, s.odd) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1.v < $2.v';
CREATE OPERATOR s.<# (LEFTARG = s.odd, RIGHTARG = s.odd, FUNCTION = s.lt);
CREATE OPERATOR CLASS s.odd_ops FOR TYPE s.odd USING btree AS OPERATOR 1 s.<#, FUNCTION 1 s.cmp(s.odd, s.odd);
CREATE TYPE s.even AS (v int);
CREATE FUNCTION s.same(s.even, s.even) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN PERFORM s.trip('same'); RETURN $1.v = $2.v; END $$;
CREATE FUNCTION s.hashed(s.even) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE OPERATOR s.=# (LEFTARG = s.even, RIGHTARG = s.even, FUNCTION = s.same, HASHES);
CREATE OPERATOR CLASS s.even_ops DEFAULT FOR TYPE s.even USING hash AS OPERATOR 1 s.=#, FUNCTION 1 s.hashed(s.even);
CREATE TABLE evens (e s.even); INSERT INTO evens VALUES (row(1)), (row(1));
CREATE TABLE odds (o s.odd); INSERT INTO odds VALUES (row(1)), (row(2));
CREATE FUNCTION public.upper(text) RETURNS text LANGUAGE sql AS 'SELECT s.trip(''shadow'')::text';
CREATE FUNCTION public.lower(varchar) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT s.trip(''immutable'')::text';
CREATE SCHEMA front;
CREATE FUNCTION front.strpos(text, name) RETURNS int LANGUAGE sql AS 'SELECT s.trip(''ours'')';
CREATE FUNCTION front.eq(name, name) RETURNS bool LANGUAGE sql AS 'SELECT s.trip(''ours'') > 0';
CREATE OPERATOR front.= (LEFTARG = name, RIGHTARG = name, FUNCTION = front.eq);
CREATE FUNCTION s.listening() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM s.trip('event'); END $$;
CREATE EVENT TRIGGER listening ON ddl_command_start EXECUTE FUNCTION s.listening();
`

// trapped are queries that reach the traps, and what reads what a text names.
var trapped = []struct{ sql, want string }{
	{`SELECT 1 === 2`, "calls public.dblink_exec, s.op, s.trip"},
	{`SELECT 1 OPERATOR(s.&&&) 2`, "calls public.dblink_exec, s.op, s.trip"},
	{`SELECT 1 WHERE 1+===-1`, ""},
	{`SELECT 1::s.money2`, "calls public.dblink_exec, s.tomoney, s.trip"},
	{`SELECT s.show(1)`, "calls public.dblink_exec, s.tomoney, s.trip"},
	{`SELECT 5::s.posint`, "calls public.dblink_exec, s.trip"},
	{`SELECT CAST('{5}' AS "s"."posint"[])`, "calls public.dblink_exec, s.trip"},
	{`SELECT '(5)'::s.holder`, "calls public.dblink_exec, s.trip"},
	{`SELECT json_populate_record(NULL::s.holder, '{"p": 5}')`, "calls public.dblink_exec, s.trip"},
	{`SELECT * FROM json_to_record('{"a": 5}') AS x(a s.posint)`, "calls public.dblink_exec, s.trip"},
	{`SELECT * FROM tripping`, "calls public.dblink_exec, s.trip"},
	{`SELECT * FROM Public.Outer_View`, "calls public.dblink_exec, s.trip"},
	{`SELECT * FROM limiting`, "calls public.dblink_exec, s.trip"},
	{`WITH x AS (TABLE valuing) SELECT 1 FROM x`, "calls public.dblink_exec, s.trip"},
	{`SELECT * FROM ruled`, "calls public.dblink_exec, s.trip"},
	{`SELECT * FROM secured`, "calls public.dblink_exec, s.trip"},
	{`SELECT * FROM users`, "reads public.users, which is a foreign table"},
	{`SELECT * FROM prog`, "reads public.prog, which is a foreign table"},
	{`SELECT * FROM parts`, "reads public.prog, which is a foreign table"},
	{`SELECT * FROM remote`, "reads public.remote, which is a foreign table"},
	{`SELECT s.agg(id) FROM orders`, "calls public.dblink_exec, s.trip"},
	{`SELECT s.agg(id) OVER () FROM orders`, "calls public.dblink_exec, s.trip"},
	{`SELECT s.count_rows('s.tripped WHERE s.trip(''dynamic'') > 0')`, "the query calls s.count_rows, which runs a text as SQL"},
	{`SELECT s.stably()`, "calls public.dblink_exec, s.trip"},
	{`SELECT s.reading()`, "calls public.dblink_exec, s.trip"},
	{`SELECT s.atomic()`, "calls public.dblink_exec, s.trip"},
	{`SELECT s.poly(1)`, "calls public.dblink_exec, s.trip"},
	{`SELECT s.defaulted()`, "calls public.dblink_exec, s.trip"},
	{`SELECT s.optional()`, "calls public.dblink_exec, s.trip"},
	{`SELECT '[1,2]'::s.span`, "calls public.dblink_exec, s.trip"},
	{`SELECT x.of_name FROM CURRENT_USER AS x, s.tripped`, "calls s.of_name"},
	{`SELECT "current_user".of_name FROM CURRENT_USER`, "calls s.of_name"},
	{`SELECT o.of_row FROM orders o`, "calls public.dblink_exec, s.trip"},
	{`SELECT o FROM odds ORDER BY o USING OPERATOR(s.<#)`, "calls public.dblink_exec, s.cmp, s.trip"},
	{`SELECT DISTINCT o FROM odds`, "calls public.dblink_exec, s.cmp, s.trip"},
	{`SELECT DISTINCT e FROM evens`, "calls public.dblink_exec, s.same, s.trip"},
	{`SELECT upper('x'::text)`, "calls public.upper"},
	{`SELECT lower('x'::varchar)`, "calls public.dblink_exec, s.trip"},
	{`SELECT table_to_xml('tripping', true, true, '')`, "calls pg_catalog.table_to_xml, which runs a text as SQL"},
	{`SELECT schema_to_xml('public', true, true, '')`, "calls pg_catalog.schema_to_xml, which runs a text as SQL"},
	{`SELECT database_to_xml_and_xmlschema(true, true, '')`, "calls pg_catalog.database_to_xml_and_xmlschema, which runs a text as SQL"},
	{`SELECT rolpassword FROM pg_authid`, "reads pg_catalog.pg_authid, which holds passwords"},
	{`SELECT * FROM logins`, "reads pg_catalog.pg_authid, which holds passwords"},
	{`SELECT passwd FROM pg_catalog."pg_shadow"`, "reads pg_catalog.pg_shadow, which holds passwords"},
	{`SELECT umoptions FROM pg_user_mappings`, "reads pg_catalog.pg_user_mappings, which holds passwords"},
	{`SELECT option_value FROM information_schema.user_mapping_options`, "reads information_schema.user_mapping_options, which holds passwords"},
	{`TABLE pg_hba_file_rules`, "reads pg_catalog.pg_hba_file_rules, which holds passwords or who may log in"},
	{`SELECT * FROM pg_file_settings`, "reads pg_catalog.pg_file_settings"},
	{`SELECT xpath('/x/text()', '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'::xml)`, "{}"},
}

// attacked makes the database attacked, with all extensions of the server and the
// traps.
func attacked(t *testing.T, server *pgServer, file string) {
	t.Helper()
	if _, err := server.exec("postgres", `CREATE DATABASE attacked`); err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(server.Address, ":")
	setup := `DO $$ DECLARE e name; BEGIN FOR e IN SELECT name FROM pg_available_extensions LOOP EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I CASCADE', e); END LOOP; END $$;` +
		strings.NewReplacer("HOST", host, "PORT", port, "FILE", file).Replace(traps)
	if _, err := server.execIn("postgres", "attacked", setup); err != nil {
		t.Fatal(err)
	}
}

// Y21: what a query reaches by a view, an operator, a type, a policy, a foreign
// table or a function's text is looked at too: the whole database is as before, as
// the server's own dump has it.
func TestY21_Postgres_Traps(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	file := filepath.Join(server.Dir, "touched")
	attacked(t, server, file)
	before, err := server.dump("attacked")
	if err != nil {
		t.Fatal(err)
	}
	address := server.url("postgres", "attacked")
	for _, tt := range trapped {
		got, text, err := query(t, time.Minute, address, tt.sql, 100)
		if !strings.Contains(text, tt.want) || err == nil && tt.want != "{}" {
			t.Errorf("%s\n got %.300v, %.500s\nwant %s", tt.sql, got, text, tt.want)
		}
		if strings.Contains(text, password) || strings.Contains(text, "root:") {
			t.Errorf("%s tells %s", tt.sql, text)
		}
	}
	shadowed := address + "?search_path=front,public,pg_catalog"
	if got, text, err := query(t, time.Minute, shadowed, `SELECT id FROM orders`, 10); err == nil {
		t.Errorf("got %v", got)
	} else if !strings.Contains(text, "calls front.eq") {
		t.Errorf("got %s", text)
	}
	after, err := server.dump("attacked")
	if err != nil {
		t.Fatal(err)
	}
	if after != before {
		t.Errorf("the database changed: %s", difference(before, after))
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a program ran")
	}
	everyFunction(t, server)
}

// difference is where two dumps part.
func difference(before, after string) string {
	for i := range min(len(before), len(after)) {
		if before[i] != after[i] {
			return after[max(0, i-200):min(len(after), i+200)]
		}
	}
	return "the end"
}

// everyFunction calls each volatile function of the server and of all its
// extensions, by name: each is refused but for those that are listed.
func everyFunction(t *testing.T, server *pgServer) {
	t.Helper()
	names, err := server.execIn("postgres", "attacked", `SELECT DISTINCT n.nspname || '.' || quote_ident(p.proname) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
JOIN pg_language l ON l.oid = p.prolang WHERE p.provolatile = 'v' AND NOT (l.lanname = 'c' AND p.prosrc = ANY('`+string(array(harmlessInC))+`')) AND NOT p.proname = ANY('`+string(array(harmless))+`')`)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgconn.Connect(t.Context(), server.url("postgres", "attacked"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	path, err := (&querier{within: time.Minute}).begin(t.Context(), conn, "")
	if err != nil {
		t.Fatal(err)
	}
	called := strings.Fields(names)
	for _, name := range called {
		if err := checkFunctions(t.Context(), conn, "SELECT "+name+"(1)", path); err == nil || !strings.Contains(err.Error(), "the query calls") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(called) < 250 {
		t.Errorf("only %d functions", len(called))
	}
}

// Y21: what is only read works as ever: views, types, operators, policies and
// functions of the user's own and of extensions.
func TestY21_Postgres_OwnObjects(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	if _, err := server.exec("postgres", `CREATE DATABASE honest OWNER writer`); err != nil {
		t.Fatal(err)
	}
	if _, err := server.execIn("postgres", "honest", `CREATE EXTENSION citext; CREATE EXTENSION hstore; CREATE EXTENSION pg_trgm; CREATE EXTENSION pgcrypto; CREATE EXTENSION "uuid-ossp"; CREATE EXTENSION ltree; CREATE EXTENSION intarray;
CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN cents AS numeric CHECK (VALUE >= 0); CREATE TYPE pair AS (a int, b text);
CREATE FUNCTION half(cents) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN round($1 / 2, 2); END';
CREATE FUNCTION late(d date) RETURNS bool LANGUAGE sql STABLE AS 'SELECT d < current_date AND coalesce(length(trim(''x'')), 0) > 0';
CREATE AGGREGATE longest(text) (sfunc = text_larger, stype = text);
CREATE TABLE people (id bigint GENERATED ALWAYS AS IDENTITY, email citext, m mood, p pair, price cents, tags hstore, path ltree, due date DEFAULT now(), "nextval" int DEFAULT 5) PARTITION BY RANGE (id);
CREATE TABLE people_1 PARTITION OF people FOR VALUES FROM (1) TO (100);
ALTER TABLE people ENABLE ROW LEVEL SECURITY; CREATE POLICY mine ON people USING (current_user = 'writer' AND id > 0); GRANT SELECT ON people TO writer;
INSERT INTO people (email, m, p, price, tags, path, due) VALUES ('A@x.example', 'ok', (1, 'x'), 5, 'a=>1', 'a.b', '2020-01-01');
CREATE VIEW late_people AS SELECT id, email, half(price) AS h, late(due) AS l, random() < 2 AS r, now() > '2020-01-01' AS n FROM people; GRANT SELECT ON late_people TO writer;
CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n FROM people; GRANT SELECT ON counted TO writer`); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ sql, want string }{
		{`SELECT id, email, m, p, price, tags, path, "nextval" FROM people WHERE email = 'a@X.example' AND m >= 'ok' AND path ~ 'a.*' AND tags ? 'a'`, `[[1,"A@x.example","ok","(1,x)",5,"\"a\"=>\"1\"","a.b",5]]`},
		{`SELECT * FROM late_people ORDER BY id`, `[[1,"A@x.example",2.50,true,true,true]]`},
		{`SELECT n, longest(email) FROM counted, people GROUP BY n`, `[[1,"A@x.example"]]`},
		{`SELECT half(5::cents), (p).b, m::text, (SELECT p FROM people).a FROM people`, `[[2.50,"x","ok",1]]`},
		{`SELECT similarity('abc', 'abd') > 0.1, digest('a', 'sha256') IS NOT NULL, uuid_generate_v4() <> gen_random_uuid(), '{1,2}'::int[] & '{2}'`, `[[true,true,true,"{2}"]]`},
		{`SELECT relname FROM pg_class WHERE relname = 'people' UNION SELECT table_name FROM information_schema.tables WHERE table_name = 'people'`, `[["people"]]`},
		{`SELECT count(*) > 0 FROM pg_stat_activity, pg_locks, pg_roles, pg_settings, pg_stat_user_tables`, `[[true]]`},
		{`SELECT rank() OVER w, lag(id) OVER w, jsonb_build_object('a', id) ->> 'a', id BETWEEN 1 AND 2, email LIKE 'A%' FROM people WINDOW w AS (ORDER BY id)`, `[[1,null,"1",true,true]]`},
		{`SELECT count(*) FROM people_1 WHERE NOT EXISTS (SELECT FROM people x WHERE x.id > 5)`, `[[1]]`},
	} {
		if _, got, _ := query(t, time.Minute, server.url("writer", "honest"), tt.sql, 100); !strings.Contains(got, tt.want) {
			t.Errorf("%s\n got %s\nwant %s", tt.sql, got, tt.want)
		}
	}
}

// Y21: a query that the server does not end when it is told to, and does not time
// out either, is not joined by others.
func TestY21_Postgres_NotEnded(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	address := server.url("slow", "shop")
	const long = `SELECT strpos(repeat('a', 250000), 'b' || repeat('a', 125000))` // some seconds, in which it looks for nothing
	if _, text, err := query(t, time.Second, address, long, 1); err == nil || !strings.Contains(text, "ran longer than") {
		t.Fatalf("got %s", text)
	}
	tl := (&querier{within: time.Second}).tool()
	if _, text, err := queryWith(t, tl, address, `SELECT 1`, 1); err == nil || !strings.Contains(text, "has not ended an earlier query of this role (process ") {
		t.Errorf("got %s", text)
	}
	if _, text, err := query(t, time.Minute, server.url("writer", "shop"), `SELECT 1`, 1); err != nil {
		t.Errorf("another role: got %s", text)
	}
}

// Y21: what a session begins with is what poolers take; the rest is set in the
// transaction.
func TestY21_Postgres_Startup(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	to, err := parseSource(server.url("postgres", "shop") + `?search_path=a%25s,%22it's%22&application_name=x`)
	if err != nil {
		t.Fatal(err)
	}
	config, err := to.config()
	if got := fmt.Sprint(config.RuntimeParams); err != nil || got != "map[application_name:x timezone:UTC]" {
		t.Errorf("got %s, %v", got, err)
	}
	_, got, err := query(t, time.Minute, to.url.String(), `SELECT current_setting('search_path') AS p, current_setting('temp_file_limit') AS f, current_setting('jit') AS j, current_setting('transaction_read_only') AS r`, 1)
	if want := `{"columns":["p","f","j","r"],"rows":[["a%s,\"it's\"","1GB","off","on"]],"truncated":false}`; err != nil || got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
