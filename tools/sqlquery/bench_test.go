package sqlquery

import (
	"database/sql"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// asked is the query of the benchmarks, in SQLite's and in PostgreSQL's words.
var asked = map[string]string{
	"sqlite3": `WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n LIMIT 100) SELECT x, 'row ' || x FROM n`,
	"pgx":     `SELECT x, 'row ' || x FROM generate_series(1, 100) x`,
}

// BenchmarkY21 sets a call of the tool, gates and JSON included, beside the same
// query by database/sql: over a pooled connection, and over a new one, as the tool
// has it.
func BenchmarkY21(b *testing.B) {
	file := sqliteFile(b, shop)
	server := postgres(b)
	for _, engine := range []struct{ name, driver, ours, theirs string }{
		{"sqlite", "sqlite3", "sqlite:" + file, "file:" + file},
		{"postgres", "pgx", server.url("writer", "shop"), server.url("writer", "shop")},
	} {
		b.Run(engine.name+"/sql_query", func(b *testing.B) {
			set, err := tooldefs.NewSet(tool(MaxQueryTime))
			if err != nil {
				b.Fatal(err)
			}
			call := agenttest.NewCall(b, agenttest.CallOptions{Env: map[string]string{URLVariable: engine.ours}})
			args := `{"query": "` + asked[engine.driver] + `"}`
			for b.Loop() {
				if _, err := set.CallWith(b.Context(), call.Info, Name, args); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(engine.name+"/new", func(b *testing.B) {
			for b.Loop() {
				db := openDB(b, engine.driver, engine.theirs)
				readAll(b, db, asked[engine.driver])
				db.Close()
			}
		})
		b.Run(engine.name+"/pooled", func(b *testing.B) {
			db := openDB(b, engine.driver, engine.theirs)
			defer db.Close()
			for b.Loop() {
				readAll(b, db, asked[engine.driver])
			}
		})
	}
}

func openDB(b *testing.B, driver, address string) *sql.DB {
	b.Helper()
	db, err := sql.Open(driver, address)
	if err != nil {
		b.Fatal(err)
	}
	db.SetConnMaxLifetime(time.Hour)
	return db
}

func readAll(b *testing.B, db *sql.DB, query string) {
	b.Helper()
	rows, err := db.QueryContext(b.Context(), query)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var number int64
		var text string
		if err := rows.Scan(&number, &text); err != nil {
			b.Fatal(err)
		}
	}
	if n != 100 || rows.Err() != nil {
		b.Fatalf("%d rows, %v", n, rows.Err())
	}
}
