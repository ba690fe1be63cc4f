package sqlquery

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/turnkeel/turnkeel/agenttest"
)

// Y21: what a function of SQLite's does in one step ends in time too, though
// nothing interrupts it.
func TestY21_SQLite_LongSteps(t *testing.T) {
	t.Parallel()
	address := "sqlite:" + sqliteFile(t, shop)
	const big, odd = `hex(zeroblob(2000000))`, `replace(hex(zeroblob(900000)), '0', 'é')`
	for _, sql := range []string{
		`SELECT instr(` + big + `, hex(zeroblob(999999)) || '1')`,
		`SELECT instr(zeroblob(4000000), CAST(zeroblob(1999999) || 'x' AS BLOB))`,
		`SELECT length(replace(` + big + `, hex(zeroblob(999999)) || '1', 'x'))`,
		`SELECT length(replace(` + big + `, '0', ` + big + `))`,
		`SELECT trim(` + big + `, ` + odd + ` || '0')`,
		`SELECT ltrim(` + big + `, ` + odd + ` || '0')`,
		`SELECT rtrim(` + big + `, ` + odd + ` || '0')`,
		`SELECT unhex(replace(` + big + `, '0', 'z'), ` + odd + ` || 'z')`,
		`SELECT decimal_mul(` + big + `, ` + big + `)`,
		`SELECT json_patch('{}', '{}')`,
		`SELECT sqlite_log(1, 'x')`,
	} {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _, _ = query(t, 300*time.Millisecond, address, sql, 1)
		}()
		select {
		case <-ended:
		case <-time.After(time.Minute): // those that this is about take hours
			t.Fatalf("%s does not end", sql)
		}
	}
}

// Y21: the functions put in the place of SQLite's give what those give.
func TestY21_SQLite_Functions(t *testing.T) {
	t.Parallel()
	file := sqliteFile(t, shop)
	plain, err := sqlite3.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	values := []string{`NULL`, `''`, `'abcabc'`, `'bc'`, `'c'`, `'éaé'`, `'é'`, `12.50`, `5`, `-0`, `x'c3a9'`, `x''`, `x'61'`, `' a '`}
	for _, a := range values {
		for _, b := range values {
			for _, call := range []string{`instr(A, B)`, `trim(A, B)`, `ltrim(A, B)`, `rtrim(A, B)`, `replace(A, B, 'é')`, `replace(A, B, '')`, `replace('xcbc', B, A)`} {
				sql := strings.NewReplacer("A", a, "B", b).Replace(call)
				stmt, _, err := plain.Prepare(`SELECT quote(` + sql + `), typeof(` + sql + `)`)
				if err != nil || !stmt.Step() {
					t.Fatal(sql, err, stmt.Err())
				}
				want, _ := json.Marshal([]string{strings.ToValidUTF8(stmt.ColumnText(0), "\uFFFD"), stmt.ColumnText(1)})
				stmt.Close()
				got, text, err := query(t, time.Minute, "sqlite:"+file, `SELECT quote(`+sql+`), typeof(`+sql+`)`, 1)
				if err != nil {
					t.Fatal(sql, text)
				}
				if row, _ := json.Marshal(got.Rows[0]); string(row) != string(want) {
					t.Errorf("%s: got %s, want %s", sql, row, want)
				}
			}
		}
	}
}

// Y21: a file left in the middle of a write is told of as such, and stays as it is.
func TestY21_SQLite_HotJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	live, left := filepath.Join(dir, "live.db"), filepath.Join(dir, "left.db")
	conn, err := sqlite3.Open(live)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(`PRAGMA cache_size=1; CREATE TABLE t(x); WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n LIMIT 3000)
		INSERT INTO t SELECT hex(randomblob(50)) FROM n; BEGIN; UPDATE t SET x=1`); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"", "-journal"} {
		data, err := os.ReadFile(live + end)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(left+end, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := digest(t, left) + digest(t, left+"-journal")
	if _, text, err := query(t, time.Minute, "sqlite:"+left, `SELECT count(*) FROM t`, 1); err == nil || !strings.Contains(text, "left in the middle of a write") {
		t.Errorf("got %s", text)
	}
	if digest(t, left)+digest(t, left+"-journal") != before {
		t.Error("the files changed")
	}
}

// Y21: functions that run a text as SQL, and functions behind an aggregate, are
// refused whatever they call themselves.
func TestY21_Postgres_Runners(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	if out, err := server.exec("postgres", `CREATE SCHEMA runners; CREATE EXTENSION tablefunc SCHEMA runners; CREATE EXTENSION xml2 SCHEMA runners;
CREATE FUNCTION runners.my_crosstab(text) RETURNS setof record LANGUAGE c STABLE STRICT AS '$libdir/tablefunc', 'crosstab';
CREATE FUNCTION runners.noting(int, int) RETURNS int LANGUAGE sql AS 'SELECT pg_notify(''x'', ''noted''); SELECT 1';
CREATE AGGREGATE runners.noted(int) (sfunc = runners.noting, stype = int, initcond = '0');`); err != nil {
		t.Fatal(out, err)
	}
	file := filepath.Join(server.Dir, "exported")
	export := `SELECT ''a''::text, ''b''::text, lo_export(4242, ''` + file + `'')::text`
	for _, sql := range []string{
		`SELECT * FROM runners.crosstab('` + export + `') AS x(a text, b text)`,
		`SELECT * FROM runners.crosstab2('` + export + `')`,
		`SELECT * FROM runners.crosstab('` + export + `', 'SELECT ''b''::text') AS x(a text, b text)`,
		`SELECT * FROM runners.my_crosstab('` + export + `') AS x(a text, b text)`,
		`SELECT * FROM runners.connectby('(` + export + `) x(a, b, c)', 'a', 'b', 'x', 0) AS x(a text, b text, c int)`,
		`SELECT * FROM runners.xpath_table('1', '2', '(` + export + `) x', '/', 'true') AS x(a int, b text)`,
		`SELECT runners.noted(1)`,
		`SELECT txid_current()`, `SELECT pg_current_xact_id()`,
	} {
		got, text, err := query(t, time.Minute, server.url("postgres", "shop"), sql, 10)
		if err == nil || !strings.Contains(text, "the query ") {
			t.Errorf("%s: got %v, %s", sql, got, text)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was written")
	}
}

// Y21: another encoding of the database or of the role's sessions changes neither
// the values nor where a text ends.
func TestY21_Postgres_Encoding(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	if _, err := server.exec("postgres", `CREATE DATABASE western OWNER writer ENCODING 'LATIN1' TEMPLATE template0`); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{server.url("writer", "western"), server.url("writer", "shop") + "?options=-c%20client_encoding=SJIS"} {
		if got, text, err := query(t, time.Minute, address, `SELECT 'café' AS "é", length('é')`, 1); err != nil || fmt.Sprint(got.Columns[0], got.Rows) != "é[[café 1]]" {
			t.Errorf("%s: got %v, %s", address, got, text)
		}
	}
	// In SJIS the last byte of ⁃ and the backslash are one character.
	if _, text, err := query(t, time.Minute, server.url("writer", "shop")+"?options=-c%20client_encoding=SJIS", `SELECT E'⁃\', pg_notify($$x$$, $$y$$) --'`, 1); err != nil || !strings.Contains(text, `[["⁃', pg_notify($$x$$, $$y$$) --"]]`) {
		t.Errorf("got %s", text)
	}
}

// Y21: how values are written is not the role's settings' business.
func TestY21_Postgres_Written(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	settings := strings.ReplaceAll("?options=-c datestyle=German -c intervalstyle=sql_standard -c bytea_output=escape -c extra_float_digits=0 -c standard_conforming_strings=off -c timezone=Asia/Tokyo", " ", "%20")
	const want = `[["2026-11-30","1 day 02:00:00","\\x00ff",0.30000000000000004,"a\\"]]`
	if _, text, err := query(t, time.Minute, server.url("writer", "shop")+settings, `SELECT '2026-11-30'::date, '1 day 2 hours'::interval, '\x00ff'::bytea, 0.1::float8 + 0.2::float8, 'a\'`, 1); err != nil || !strings.Contains(text, want) {
		t.Errorf("got %s, want %s", text, want)
	}
}

// Y21: a service of the worker's environment has no say.
func TestY21_Postgres_Service(t *testing.T) {
	server := postgres(t)
	file := filepath.Join(t.TempDir(), "services")
	if err := os.WriteFile(file, []byte("[other]\nhost=127.0.0.1\nport=1\nkrbsrvname=x\nDateStyle=German\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, service := range []string{"other", "none"} {
		t.Setenv("PGSERVICE", service)
		t.Setenv("PGSERVICEFILE", file)
		if _, text, err := query(t, time.Minute, server.url("writer", "shop"), `SELECT '2026-11-30'::date AS d`, 1); err != nil || !strings.Contains(text, "2026-11-30") {
			t.Errorf("%s: got %s", service, text)
		}
	}
}

// Y21: odd shapes of results.
func TestY21_Postgres_Shapes(t *testing.T) {
	t.Parallel()
	address := postgres(t).url("writer", "shop")
	for _, tt := range []struct{ sql, want string }{
		{`SELECT`, `{"columns":[],"rows":[[]],"truncated":false}`},
		{`SELECT FROM orders`, `{"columns":[],"rows":[[],[],[]],"truncated":false}`},
		{`SELECT 1 AS a, 2 AS a, 3`, `{"columns":["a","a","?column?"],"rows":[[1,2,3]],"truncated":false}`},
		{`SELECT 'infinity'::timestamptz AS t, 'NaN'::float8 AS f, '-Infinity'::float4 AS g, '1 day'::interval AS i, 5::money AS m`, `{"columns":["t","f","g","i","m"],"rows":[["infinity","NaN","-Infinity","1 day","$5.00"]],"truncated":false}`},
		{`SELECT int4range(1, 3) AS r, ROW(1, NULL, 'x') AS c, '10.0.0.1'::inet AS n, 'orders'::regclass AS k, 7::oid AS o, B'101' AS b`, `{"columns":["r","c","n","k","o","b"],"rows":[["[1,3)","(1,,x)","10.0.0.1","orders",7,"101"]],"truncated":false}`},
		{`SELECT repeat('9', 1000)::numeric AS n`, `{"columns":["n"],"rows":[[` + strings.Repeat("9", 1000) + `]],"truncated":false}`},
		{`SELECT '\x'::bytea AS b, ''::text AS t, NULL::int AS i, '<a/>'::xml AS x`, `{"columns":["b","t","i","x"],"rows":[["\\x","",null,"<a/>"]],"truncated":false}`},
	} {
		if _, got, err := query(t, time.Minute, address, tt.sql, 10); err != nil || got != tt.want {
			t.Errorf("%s\n got %s, %v\nwant %s", tt.sql, got, err, tt.want)
		}
	}
}

// Y21: a relative path in an agent's file starts in that file's folder.
func TestY21_BesideFile(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"sqlite:shop.db": "sqlite:agents/a/shop.db", "SQLite3://data/shop.db?mode=ro": "sqlite:agents/a/data/shop.db?mode=ro",
		"sqlite:../shop.db": "sqlite:agents/shop.db", "sqlite:/var/shop.db": "sqlite:/var/shop.db", "sqlite:///var/shop.db": "sqlite:///var/shop.db",
		"sqlite:": "sqlite:", "sqlite:?mode=rw": "sqlite:?mode=rw", "sqlite::memory:": "sqlite::memory:", "shop.db": "shop.db",
		"postgres://u@h/shop.db": "postgres://u@h/shop.db", "": "",
	} {
		if got := Builtin().FromFile(filepath.Join("agents", "a"), URLVariable, value); got != filepath.FromSlash(want) {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

// Y21: the path of a file that is not there is for the worker's log; the model is
// told what to do.
func TestY21_MissingFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "none.db")
	tl := tool(time.Minute)
	_, err := agenttest.NewCall(t, agenttest.CallOptions{Env: map[string]string{URLVariable: "sqlite:" + file}}).Run(tl, `{"query":"SELECT 1"}`)
	if text := tl.Judge(err).Text; strings.Contains(text, file) || !strings.Contains(text, "the worker's log has the path") || !strings.Contains(fmt.Sprint(err), file) {
		t.Errorf("got %s, %v", text, err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file was made")
	}
}
