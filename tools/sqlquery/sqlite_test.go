package sqlquery

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

const shop = `
CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT, cents INTEGER, note BLOB);
INSERT INTO orders VALUES (1, 'teapot', 4200, NULL), (2, 'it''s; DELETE FROM orders --', 9007199254740993, x'00ff'), (3, 'cup', -1, 1.5);
CREATE TABLE "select" ("drop" TEXT); INSERT INTO "select" VALUES ('update');
CREATE TRIGGER t AFTER UPDATE ON orders BEGIN DELETE FROM orders; END;
CREATE INDEX by_item ON orders (item);
CREATE VIEW cheap AS SELECT * FROM orders WHERE cents < 100;
`

// sqliteFile makes a database that everyone may write.
func sqliteFile(t testing.TB, setup string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop 50%20#.db")
	conn, err := sqlite3.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(setup); err != nil {
		t.Fatal(err)
	}
	return file
}

// query runs the tool as a worker does, but for its time.
func query(t testing.TB, within time.Duration, address, sql string, limit int) (Table, string, error) {
	t.Helper()
	return queryWith(t, tool(within), address, sql, limit)
}

func queryWith(t testing.TB, tl *tooldefs.Tool, address, sql string, limit int) (Table, string, error) {
	t.Helper()
	args, err := json.Marshal(map[string]any{"query": sql, "limit": limit})
	if err != nil {
		t.Fatal(err)
	}
	result, err := agenttest.NewCall(t, agenttest.CallOptions{Env: map[string]string{URLVariable: address}}).Run(tl, string(args))
	if err != nil {
		return Table{}, tl.Judge(err).Text, err
	}
	var out Table
	decoder := json.NewDecoder(strings.NewReader(string(result.JSON)))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out, string(result.JSON), nil
}

// Y21: rows come as they are, and names and literals that look like keywords work.
func TestY21_SQLite(t *testing.T) {
	t.Parallel()
	address := "sqlite:" + sqliteFile(t, shop)
	for _, tt := range []struct{ sql, want string }{
		{`SELECT id, item, cents, note FROM orders ORDER BY id`, `{"columns":["id","item","cents","note"],"rows":[[1,"teapot",4200,null],[2,"it's; DELETE FROM orders --",9007199254740993,"0x00ff"],[3,"cup",-1,1.5]],"truncated":false}`},
		{`SELECT "drop" FROM "select" WHERE "drop" = 'update';`, `{"columns":["drop"],"rows":[["update"]],"truncated":false}`},
		{"/* DELETE */ SELECT 'INSERT; DROP TABLE x' AS \"update\" -- ;\n ; ; -- the end", `{"columns":["update"],"rows":[["INSERT; DROP TABLE x"]],"truncated":false}`},
		{`WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n WHERE x<3) SELECT x FROM n`, `{"columns":["x"],"rows":[[1],[2],[3]],"truncated":false}`},
		{`SELECT count(*) FROM orders WHERE 1=0`, `{"columns":["count(*)"],"rows":[[0]],"truncated":false}`},
		{`SELECT id FROM orders WHERE 1=0`, `{"columns":["id"],"rows":[],"truncated":false}`},
		{`SELECT id FROM cheap`, `{"columns":["id"],"rows":[[3]],"truncated":false}`},
		{`SELECT name FROM pragma_table_info('orders') LIMIT 1`, `{"columns":["name"],"rows":[["id"]],"truncated":false}`},
		{`SELECT 9e999`, `{"columns":["9e999"],"rows":[["Inf"]],"truncated":false}`},
		{`VALUES (1, 'a')`, `{"columns":["column1","column2"],"rows":[[1,"a"]],"truncated":false}`},
	} {
		if _, got, err := query(t, time.Minute, address, tt.sql, 100); err != nil || got != tt.want {
			t.Errorf("%s\n got %s, %v\nwant %s", tt.sql, got, err, tt.want)
		}
	}
	if got, _, err := query(t, time.Minute, address, `PRAGMA table_info(orders)`, 100); err != nil || len(got.Rows) != 4 {
		t.Errorf("table_info: %v, %v", got, err)
	}
}

// attacksOnSQLite are told by what the model reads.
var attacksOnSQLite = []struct{ sql, want string }{
	{`DELETE FROM orders`, "only statements that read are run"},
	{`INSERT INTO orders (id) VALUES (9) RETURNING id`, "only statements that read are run"},
	{`UPDATE orders SET cents = 0 RETURNING cents`, "only statements that read are run"},
	{`REPLACE INTO orders (id) VALUES (1)`, "only statements that read are run"},
	{`WITH x AS (SELECT 1) DELETE FROM orders`, "only statements that read are run"},
	{`SELECT 1; DELETE FROM orders`, "more than one statement"},
	{"SELECT 1; -- ;\n /* ; */ DELETE FROM orders", "more than one statement"},
	{`SELECT 1; PRAGMA query_only=OFF`, "more than one statement"},
	{`SELECT ?`, "the query has parameters"},
	{`SELECT id FROM orders WHERE item = :item`, "the query has parameters"},
	{`SELECT json_extract('{}', hex(zeroblob(1000000)))`, "0000…"},
	{`;`, "no statement"},
	{`/* nothing`, "no statement"},
	{`DROP TABLE orders`, "only statements that read are run"},
	{`CREATE TABLE x (y)`, "only statements that read are run"},
	{`CREATE TEMP TABLE x AS SELECT 1`, "only statements that read are run"},
	{`CREATE VIRTUAL TABLE x USING fts5(y)`, "only statements that read are run"},
	{`ALTER TABLE orders RENAME TO x`, "only statements that read are run"},
	{`ATTACH 'FILE' AS x`, "only statements that read are run"},
	{`ATTACH ':memory:' AS x`, "only statements that read are run"},
	{`DETACH main`, "only statements that read are run"},
	{`VACUUM`, "only statements that read are run"},
	{`VACUUM INTO 'FILE'`, "only statements that read are run"},
	{`REINDEX`, "only statements that read are run"},
	{`EXPLAIN DELETE FROM orders`, "only statements that read are run"},
	{`ANALYZE`, "only statements that read are run"},
	{`BEGIN`, "only statements that read are run"},
	{`COMMIT`, "only statements that read are run"},
	{`SAVEPOINT x`, "only statements that read are run"},
	{`PRAGMA writable_schema=ON`, "only statements that read are run"},
	{`PRAGMA query_only=OFF`, "only statements that read are run"},
	{`PRAGMA journal_mode=DELETE`, "only statements that read are run"},
	{`PRAGMA user_version=7`, "only statements that read are run"},
	{`PRAGMA wal_checkpoint(TRUNCATE)`, "only statements that read are run"},
	{`PRAGMA temp_store_directory='/tmp'`, "only statements that read are run"},
	{`PRAGMA database_list`, "only statements that read are run"},
	{`SELECT * FROM pragma_user_version`, "only statements that read are run"},
	{`SELECT load_extension('FILE')`, "no such function"},
	{`SELECT writefile('FILE', 'x')`, "no such function"},
	{`SELECT readfile('/etc/passwd')`, "no such function"},
	{`SELECT edit('x')`, "no such function"},
	{`SELECT fts3_tokenizer('x', x'00')`, "no such function"},
	{`UPDATE sqlite_schema SET sql = 'x'`, "table sqlite_master may not be modified"},
	{`UPDATE sqlite_dbpage SET data = zeroblob(4096)`, ""},
	{"SELECT 1\x00; DELETE FROM orders", "NUL"},
	{"SELECT '\xff'", ""},
	{`WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n) SELECT count(*) FROM n`, "ran longer than"},
	{`WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n) SELECT x FROM n ORDER BY x`, ""},
	{`WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n LIMIT 100000) SELECT count(*) FROM n a, n b, n c, n d`, "ran longer than"},
	{`SELECT zeroblob(1000000000)`, "too big"},
	{`SELECT group_concat(hex(zeroblob(4000000))) FROM orders a, orders b, orders c`, ""},
	{`SELECT printf('%.*c', 2000000000, 'x')`, ""},
	{`WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n LIMIT 60) SELECT count(DISTINCT hex(randomblob(1000000)) || x) FROM n`, "memory"},
	{`SELECT ` + strings.Repeat("(", 1000) + `1` + strings.Repeat(")", 1000), ""},
	{`SELECT 1 ` + strings.Repeat("UNION SELECT 1 ", 200), "too many terms"},
}

// Y21: the attack list leaves a writable file as it is, byte by byte, and makes
// no other.
func TestY21_SQLite_Attacks(t *testing.T) {
	t.Parallel()
	file := sqliteFile(t, shop)
	other := filepath.Join(filepath.Dir(file), "other")
	before := digest(t, file)
	for _, tt := range attacksOnSQLite {
		sql := strings.ReplaceAll(tt.sql, "FILE", other)
		within := 300 * time.Millisecond
		if tt.want != "" && tt.want != "ran longer than" {
			within = time.Minute // something else ends it, also on a slow machine
		}
		got, text, err := query(t, within, "sqlite:"+file, sql, 100)
		if tt.want != "" && (err == nil || !strings.Contains(text, tt.want)) {
			t.Errorf("%.100s\n got %.300v, %.300s\nwant %s", sql, got, text, tt.want)
		}
		if len(text) > MaxBytes+1000 {
			t.Errorf("%.100s: %d bytes", sql, len(text))
		}
	}
	if after := digest(t, file); after != before {
		t.Error("the file changed")
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
		t.Errorf("there are other files now: %v, %v", entries, err)
	}
}

func digest(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// Y21: rows, bytes and values are capped, and the result says so.
func TestY21_Caps(t *testing.T) {
	t.Parallel()
	address := "sqlite:" + sqliteFile(t, shop)
	const numbers = `WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n LIMIT 1000) `
	for _, tt := range []struct {
		sql       string
		limit     int
		rows      int
		truncated bool
		note      string
	}{
		{numbers + `SELECT x FROM n`, 500, 500, true, "there are more rows than the limit of 500"},
		{numbers + `SELECT x FROM n LIMIT 3`, 3, 3, false, ""},
		{numbers + `SELECT hex(zeroblob(500)) FROM n`, 500, 29, true, "the rows after these are left out: a result has at most 30000 bytes"},
		{`SELECT hex(zeroblob(50000))`, 1, 1, true, "values longer than 2000 characters are cut"},
		{`SELECT replace(hex(zeroblob(1000)), '0', 'é')`, 1, 1, false, ""},
		{`SELECT zeroblob(1000000)`, 1, 1, true, "values longer than 2000 characters are cut"},
		{`SELECT ` + strings.Repeat("hex(zeroblob(1000)),", 20) + `1`, 1, 0, true, "a result has at most 30000 bytes"},
	} {
		got, text, err := query(t, time.Minute, address, tt.sql, tt.limit)
		if err != nil || len(got.Rows) != tt.rows || got.Truncated != tt.truncated || !strings.Contains(got.Note, tt.note) || len(text) > MaxBytes+1000 {
			t.Errorf("%.100s: %d rows, truncated %v, %q, %d bytes, %v", tt.sql, len(got.Rows), got.Truncated, got.Note, len(text), err)
		}
	}
	long := `SELECT x.*` + strings.Repeat(", x.*", 30) + ` FROM (SELECT 1 AS "` + strings.Repeat("é", 1500) + `", 2 AS "` + strings.Repeat("\x01", 1500) + `") x`
	if got, text, err := query(t, time.Minute, address, long, 1); err == nil || !strings.Contains(text, "names of the columns") {
		t.Errorf("got %d columns, %s", len(got.Columns), text)
	}
	if _, text, err := query(t, time.Minute, address, `SELECT 1`+strings.Repeat(",1", 100), 1); err == nil || !strings.Contains(text, "101 columns, and at most 100") {
		t.Errorf("got %s", text)
	}
}

// Y21: an interrupt ends a query that would not end.
func TestY21_SQLite_Interrupted(t *testing.T) {
	t.Parallel()
	file := sqliteFile(t, shop)
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(fmt.Errorf("the turn was interrupted"))
	call := agenttest.NewCall(t, agenttest.CallOptions{Env: map[string]string{URLVariable: "sqlite:" + file}})
	_, err := (&querier{within: time.Hour}).run(ctx, call.Call, Query{Query: `WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n) SELECT count(*) FROM n`, Limit: 1})
	if err == nil || !strings.Contains(err.Error(), "the turn was interrupted") {
		t.Errorf("got %v", err)
	}
}

// Y21: what is wrong with the address or the file is said, without the address.
func TestY21_Sources(t *testing.T) {
	t.Parallel()
	file := sqliteFile(t, shop)
	noDatabase := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(noDatabase, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ address, want string }{
		{"sqlite:" + file, ""},
		{"sqlite://" + file, ""},
		{"SQLite3:" + file + "?mode=ro", ""},
		{"file:" + file, ""},
		{"sqlite:" + file + "?mode=rw", "without parameters"},
		{"sqlite:" + file + "?_pragma=writable_schema(1)", "without parameters"},
		{"sqlite:", "want sqlite: and the path of a file"},
		{"sqlite::memory:", "there is no database file"},
		{"sqlite:" + file + ".not", "there is no database file where SQL_DATABASE_URL points"},
		{"sqlite:" + filepath.Dir(file), "there is no database file"},
		{"sqlite:" + noDatabase, "cannot be read as a database"},
		{"mysql://root:hunter22@db/x", "is neither postgres://"},
		{"postgres://u:hunter22@%zz/x", "is neither postgres://"},
		{"hunter22", "is neither postgres://"},
		{" ", "is not set"},
	} {
		_, text, err := query(t, time.Minute, tt.address, "SELECT 1", 1)
		if (err != nil) != (tt.want != "") || !strings.Contains(text, tt.want) || strings.Contains(text, "hunter22") {
			t.Errorf("%s: got %s, want %s", tt.address, text, tt.want)
		}
	}
}

// Y21: a query may be repeated and run beside others.
func TestY21_Settings(t *testing.T) {
	t.Parallel()
	tl := tool(MaxQueryTime)
	if tl.Class() != contract.ClassSafeToRetry || tl.Effects() != contract.EffectsNone || !tl.ParallelSafe("{}") {
		t.Errorf("got %s, %s", tl.Class(), tl.Effects())
	}
	if diff := cmp.Diff([]string{URLVariable}, tl.Env()); diff != "" {
		t.Error(diff)
	}
}
