// Package postgres runs Debian's PostgreSQL on a port and with a data folder of
// its own. It is for tests; start at [Start].
package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/turnkeel/turnkeel/internal/child"
	"github.com/turnkeel/turnkeel/internal/debian"
)

// Superuser is the server's first role, and the name of its database.
const Superuser = "postgres"

// Server is a running server. It ends with this process, and by [Server.Stop].
type Server struct {
	Dir     string // its folder, which the server's own user may write
	Address string // host and port

	exited  <-chan error
	process *os.Process
	log     bytes.Buffer
}

// Start starts a server that takes connections. With a password it asks every
// role for its own (SCRAM), and the superuser has this one; with none it asks
// nobody. The caller stops it.
func Start(password string) (*Server, error) {
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
	s := &Server{Dir: dir}
	if err = s.start(password); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	if err = s.await(password); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(password string) error {
	secret, auth := filepath.Join(s.Dir, "password"), "--auth=trust"
	if err := os.WriteFile(secret, []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	attr, err := s.runAs(secret)
	if err != nil {
		return err
	}
	data := filepath.Join(s.Dir, "data")
	args := []string{"-D", data, "-U", Superuser, "-E", "UTF8", "--locale=C", "--no-sync"}
	if password != "" {
		args, auth = append(args, "--pwfile="+secret), "--auth=scram-sha-256"
	}
	if out, err := s.command(attr, "initdb", append(args, auth)...).CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	s.Address = "127.0.0.1:" + port
	cmd := s.command(attr, "postgres", "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+s.Dir,
		"-c", "fsync=off", "-c", "shared_buffers=32MB", "-c", "log_min_messages=warning")
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	if s.exited, err = child.Start(cmd); err != nil {
		return err
	}
	s.process = cmd.Process
	return nil
}

// await waits until the server takes connections.
func (s *Server) await(password string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	address := url.URL{Scheme: "postgres", User: url.UserPassword(Superuser, password), Host: s.Address, Path: Superuser}
	for {
		conn, err := pgconn.Connect(ctx, address.String())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case exit := <-s.exited:
			return fmt.Errorf("PostgreSQL ended: %w\n%s", exit, s.log.String())
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() {
	_ = s.process.Signal(syscall.SIGQUIT) // at once, also where a query looks for nothing
	<-s.exited                            //nolint:errcheck // it was told to end
	_ = os.RemoveAll(s.Dir)
}

// Program is the path of a program that came with the server, like pg_dump.
func Program(name string) string { return filepath.Join(binaries(), name) }

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

// runAs gives the folder and the file to somebody who is not root, as whom the
// server refuses to run.
func (s *Server) runAs(file string) (*syscall.SysProcAttr, error) {
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
		return attr, errors.Join(os.Chown(s.Dir, uid, gid), os.Chown(file, uid, gid))
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody to run it as; run the test as somebody else")
}

func (s *Server) command(attr *syscall.SysProcAttr, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(Program(program), args...) //nolint:gosec // the server's own
	cmd.Dir, cmd.SysProcAttr = s.Dir, attr
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	return cmd
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close() //nolint:errcheck // its number is all that is wanted
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
