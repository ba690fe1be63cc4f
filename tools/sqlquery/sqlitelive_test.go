package sqlquery

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// Y21: a file that somebody writes meanwhile is read as it is between two
// transactions, by its name and by a link to it, in either journal mode.
func TestY21_SQLite_Live(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"DELETE", "WAL"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			file := sqliteFile(t, `PRAGMA journal_mode=`+mode+`; CREATE TABLE t (id INTEGER PRIMARY KEY, v INT, pad TEXT);
WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n LIMIT 200) INSERT INTO t SELECT x, 100, hex(zeroblob(200)) FROM n`)
			link := filepath.Join(t.TempDir(), "link.db")
			if err := os.Symlink(file, link); err != nil {
				t.Fatal(err)
			}
			stop, stopped := make(chan struct{}), make(chan error, 1)
			go func() { stopped <- transfer(file, stop) }()
			for i := range 60 {
				address := "sqlite:" + []string{file, link}[i%2]
				if _, got, err := query(t, time.Minute, address, `SELECT sum(v), count(*) FROM t`, 1); !strings.Contains(got, `[[20000,200]]`) && !strings.Contains(got, "is being written to") {
					t.Errorf("got %s, %v", got, err)
				}
			}
			close(stop)
			if err := <-stopped; err != nil {
				t.Error(err)
			}
			if entries, err := os.ReadDir(filepath.Dir(link)); err != nil || len(entries) != 1 {
				t.Errorf("beside the link: %v, %v", entries, err)
			}
		})
	}
}

// transfer moves an amount from one half of the rows to the other until it is
// stopped, with a cache that is too small for it: pages are written before the end.
func transfer(file string, stop <-chan struct{}) error {
	conn, err := sqlite3.Open(file)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.Exec(`PRAGMA cache_size=5; PRAGMA busy_timeout=60000`); err != nil {
		return err
	}
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := conn.Exec(`BEGIN IMMEDIATE; UPDATE t SET v = v - 1 WHERE id <= 100; UPDATE t SET v = v + 1 WHERE id > 100; COMMIT`); err != nil {
			return err
		}
	}
}
