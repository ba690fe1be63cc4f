package sqlquery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/turnkeel/turnkeel/internal/child"
	"github.com/turnkeel/turnkeel/internal/debian"
)

// pgServer is Debian's PostgreSQL on a port and with a data folder of its own.
// It ends with the tests.
type pgServer struct {
	dir, address string // address: host and port
	exited       <-chan error
	process      *os.Process
	log          bytes.Buffer
}

// url is the server's for a role and a database.
func (s *pgServer) url(role, database string) string {
	return fmt.Sprintf("postgres://%s:%s@%s/%s", role, password, s.address, database)
}

// password of every role. The test greps for it.
const password = "hunter22-secret"

func TestMain(m *testing.M) {
	code := m.Run()
	if server, err := startedServer(); err == nil && server != nil {
		server.stop()
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

// binaries is the folder of the newest server that is installed.
func binaries() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }))
}

func version(initdb string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return n
}

func newServer() (*pgServer, error) {
	err := debian.Install(func() []string {
		if binaries() == "" {
			return []string{"PostgreSQL (initdb)"}
		}
		return nil
	}, "postgresql")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "turnkeel-postgres")
	if err != nil {
		return nil, err
	}
	s := &pgServer{dir: dir}
	attr, err := s.runAs()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if out, err := s.command(attr, "initdb", "-D", data, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s.address = "127.0.0.1:" + port
	cmd := s.command(attr, "postgres", "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+dir,
		"-c", "fsync=off", "-c", "shared_buffers=32MB", "-c", "log_min_messages=warning")
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	if s.exited, err = child.Start(cmd); err != nil {
		return nil, err
	}
	s.process = cmd.Process
	return s, s.fill()
}

// runAs gives the folder to somebody who is not root, as whom the server refuses
// to run.
func (s *pgServer) runAs() (*syscall.SysProcAttr, error) {
	attr := child.Attr(syscall.SIGQUIT)
	if os.Geteuid() != 0 {
		return attr, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		who, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(who.Uid)
		gid, _ := strconv.Atoi(who.Gid)
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)} //nolint:gosec // ids of the system's own
		return attr, os.Chown(s.dir, uid, gid)
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody to run it as; run the test as somebody else")
}

func (s *pgServer) command(attr *syscall.SysProcAttr, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(binaries(), program), args...) //nolint:gosec // the server's own
	cmd.Dir, cmd.SysProcAttr = s.dir, attr
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	return cmd
}

func (s *pgServer) stop() {
	_ = s.process.Signal(syscall.SIGQUIT) // at once, also where a query looks for nothing
	select {
	case <-s.exited:
	case <-time.After(30 * time.Second): // no test may wait for a server for ever
		_ = s.process.Kill()
	}
	_ = os.RemoveAll(s.dir)
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// fill waits for the server and makes the roles and the data. The role writer may
// do more than any agent's should.
func (s *pgServer) fill() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		conn, err := pgconn.Connect(ctx, s.url("postgres", "postgres"))
		if err == nil {
			_, err = conn.Exec(ctx, `CREATE ROLE writer LOGIN PASSWORD '`+password+`'`).ReadAll()
			_, err2 := conn.Exec(ctx, `CREATE DATABASE shop OWNER writer`).ReadAll()
			_ = conn.Close(ctx)
			if err = errors.Join(err, err2); err != nil {
				return err
			}
			break
		}
		select {
		case exit := <-s.exited:
			return fmt.Errorf("PostgreSQL ended: %w\n%s", exit, s.log.String())
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	if _, err := s.exec("postgres", `CREATE ROLE reader LOGIN; CREATE ROLE busy LOGIN CONNECTION LIMIT 0; CREATE ROLE slow LOGIN;
CREATE EXTENSION dblink;
GRANT pg_read_all_data, pg_write_all_data, pg_read_server_files, pg_write_server_files, pg_execute_server_program, pg_signal_backend, pg_checkpoint TO writer;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pg_catalog, public TO writer;`); err != nil {
		return err
	}
	_, err := s.exec("writer", pgShop)
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
		out, err := exec.Command(filepath.Join(binaries(), args[0]), args[1:]...).CombinedOutput() //nolint:gosec // the server's own
		if err != nil {
			return "", fmt.Errorf("%s: %w\n%s", args[0], err, out)
		}
		all.Write(restrict.ReplaceAll(out, nil))
	}
	for _, file := range []string{"postgresql.conf", "postgresql.auto.conf", "pg_hba.conf", "pg_ident.conf"} {
		data, err := os.ReadFile(filepath.Join(s.dir, "data", file))
		if err != nil {
			return "", err
		}
		all.Write(data)
	}
	return all.String(), nil
}

// restrict is a line with a number of the dump's own.
var restrict = regexp.MustCompile(`(?m)^\\(un)?restrict .*$`)
