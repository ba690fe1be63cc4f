package sqlquery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	pgtest "github.com/turnkeel/turnkeel/tests/postgres"
)

// pgServer is a PostgreSQL of the tests' own that asks for no password. It ends
// with them.
type pgServer struct{ *pgtest.Server }

// url is the server's for a role and a database.
func (s *pgServer) url(role, database string) string {
	return fmt.Sprintf("postgres://%s:%s@%s/%s", role, password, s.Address, database)
}

// password of every role. The test greps for it.
const password = "hunter22-secret"

func TestMain(m *testing.M) {
	code := m.Run()
	if server, err := startedServer(); err == nil && server != nil {
		server.Stop()
	}
	os.Exit(code)
}

// postgres is the server, started by the first test that asks.
func postgres(t testing.TB) *pgServer {
	t.Helper()
	wanted.Do(func() {})
	server, err := startServer()
	if err != nil {
		t.Fatal(err)
	}
	return server
}

var (
	wanted      sync.Once
	startServer = sync.OnceValues(newServer)
)

// startedServer is the server, if a test asked for it.
func startedServer() (*pgServer, error) {
	asked := true
	wanted.Do(func() { asked = false })
	if !asked {
		return nil, nil
	}
	return startServer()
}

func newServer() (*pgServer, error) {
	running, err := pgtest.Start("")
	if err != nil {
		return nil, err
	}
	s := &pgServer{running}
	if err := s.fill(); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// fill makes the roles and the data. The role writer may do more than any
// agent's should.
func (s *pgServer) fill() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgconn.Connect(ctx, s.url(pgtest.Superuser, pgtest.Superuser))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `CREATE ROLE writer LOGIN PASSWORD '`+password+`'`).ReadAll()
	_, err2 := conn.Exec(ctx, `CREATE DATABASE shop OWNER writer`).ReadAll()
	_ = conn.Close(ctx)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	if _, err := s.exec("postgres", `CREATE ROLE reader LOGIN; CREATE ROLE busy LOGIN CONNECTION LIMIT 0; CREATE ROLE slow LOGIN;
CREATE EXTENSION dblink;
GRANT pg_read_all_data, pg_write_all_data, pg_read_server_files, pg_write_server_files, pg_execute_server_program, pg_signal_backend, pg_checkpoint TO writer;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pg_catalog, public TO writer;`); err != nil {
		return err
	}
	_, err = s.exec("writer", pgShop)
	return err
}

// exec runs statements in the database shop, and gives the text of the last
// result, a row a line.
func (s *pgServer) exec(role, statements string) (string, error) {
	return s.execIn(role, "shop", statements)
}

func (s *pgServer) execIn(role, database, statements string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgconn.Connect(ctx, s.url(role, database))
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	results, err := conn.Exec(ctx, statements).ReadAll()
	if err != nil || len(results) == 0 {
		return "", err
	}
	var text bytes.Buffer
	for _, row := range results[len(results)-1].Rows {
		text.Write(append(bytes.Join(row, []byte("|")), '\n'))
	}
	return text.String(), nil
}

// dump is everything in a database and of the roles, as the server's own programs
// write it, and the files of the server's settings.
func (s *pgServer) dump(database string) (string, error) {
	var all strings.Builder
	for _, args := range [][]string{{"pg_dump", "-b", "--dbname", s.url("postgres", database)}, {"pg_dumpall", "--globals-only", "--dbname", s.url("postgres", database)}} {
		out, err := exec.Command(pgtest.Program(args[0]), args[1:]...).CombinedOutput() //nolint:gosec // the server's own
		if err != nil {
			return "", fmt.Errorf("%s: %w\n%s", args[0], err, out)
		}
		all.Write(restrict.ReplaceAll(out, nil))
	}
	for _, file := range []string{"postgresql.conf", "postgresql.auto.conf", "pg_hba.conf", "pg_ident.conf"} {
		data, err := os.ReadFile(filepath.Join(s.Dir, "data", file))
		if err != nil {
			return "", err
		}
		all.Write(data)
	}
	return all.String(), nil
}

// restrict is a line with a number of the dump's own.
var restrict = regexp.MustCompile(`(?m)^\\(un)?restrict .*$`)
