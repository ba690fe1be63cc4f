package mcptools

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/turnkeel/turnkeel/internal/child"
	"github.com/turnkeel/turnkeel/internal/mask"
)

const (
	// stopGrace is how long a program has to end once its input is closed, and
	// again once it is told to terminate.
	stopGrace = 2 * time.Second

	// pipeGrace is how long what a program wrote is still read once it has ended
	// while a process that it left behind holds its output open.
	pipeGrace = time.Second
)

// process is a server's program. It ends with this process: the kernel kills it
// on Linux, a guard kills its group where there is a shell, and everywhere its
// input ends.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File // our ends of the pipes
	stdout *os.File
	exited chan struct{} // closed when it has ended
	how    error         // it ended, once exited is closed; nil for success
	said   *lastWords

	closing sync.Once
}

// startProcess starts the program in a process group of its own. Each line that
// it writes to its standard error goes to said.
func startProcess(command, env []string, dir string, said *lastWords) (*process, error) {
	if err := checkDir(dir); err != nil { // the system would say that the program is missing
		return nil, err
	}
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		_, _ = childIn.Close(), stdin.Close()
		return nil, err
	}
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec // the user's own
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, said
	cmd.Env, cmd.Dir, cmd.WaitDelay = append(baseEnv(), env...), dir, pipeGrace
	cmd.SysProcAttr = child.Attr(syscall.SIGKILL)
	exited, err := child.Start(cmd)
	_, _ = childIn.Close(), childOut.Close()
	if err != nil {
		_, _ = stdin.Close(), stdout.Close()
		return nil, fmt.Errorf("start %s: %w%s", command[0], err, hint(command[0], dir, err))
	}
	p := &process{cmd: cmd, stdin: stdin, stdout: stdout, exited: make(chan struct{}), said: said}
	release, err := child.Guard(cmd.Process.Pid)
	if err != nil {
		release = func() {} // the kernel's kill and the end of its input have to do
	}
	go func() {
		p.how = <-exited
		p.signal(syscall.SIGKILL) // what it left behind in its group
		release()
		close(p.exited)
		// What it left behind outside of its group may hold its output open, and
		// a call would wait for it until its deadline.
		time.Sleep(pipeGrace)
		p.closePipes()
	}()
	return p, nil
}

// hint says what may be wrong with a program that cannot be started.
func hint(program, dir string, err error) string {
	info, statErr := os.Stat(filepath.Join(dir, program))
	isFile := statErr == nil && info.Mode().IsRegular()
	switch {
	case isFile && filepath.Base(program) == program:
		return fmt.Sprintf("; the file of its folder is ./%s", program)
	case isFile && info.Mode()&0o111 == 0:
		return "; the file may not be executed: see chmod"
	case strings.ContainsAny(program, "$~%"):
		return "; no shell expands it: write the path itself"
	case strings.Contains(program, " "):
		return "; no shell splits it: each argument is an item of its own"
	case !errors.Is(err, exec.ErrNotFound):
		return ""
	case program == "npx" || program == "npm" || program == "node":
		return "; install Node.js 20 or later, which brings it, or write the program's whole path"
	case program == "uvx" || program == "uv":
		return "; install uv (docs.astral.sh/uv), which brings it, or write the program's whole path"
	}
	return "; install it, or write the program's whole path"
}

func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return fmt.Errorf("the folder to run in: %w", err)
	case !info.IsDir():
		return fmt.Errorf("the folder to run in: %s is no folder", dir)
	}
	return nil
}

// baseEnv is what every program gets of the worker's environment; all else it
// gets by name only. What a package runner needs to reach a registry from behind
// a proxy or a company's own certificates is among it, a proxy's password is not.
func baseEnv() []string {
	var env []string
	for _, name := range []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "NO_PROXY", "no_proxy",
	} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		if value := os.Getenv(name); value != "" && !strings.Contains(value, "@") {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

// kill ends the program and all of its group at once.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	p.closePipes()
}

// stop ends the program in order: its input ends, then it is told, then killed.
// It returns when the program has ended.
func (p *process) stop() {
	_ = p.stdin.Close()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-p.exited:
			p.closePipes()
			return
		case <-time.After(stopGrace):
			p.signal(s)
		}
	}
	<-p.exited
	p.closePipes()
}

// lastWords is an error with what the program said last, and how it ended where
// it did that by itself. It must have ended.
func (p *process) lastWords(err error) error {
	var exit *exec.ExitError
	switch {
	case p.how == nil:
		err = fmt.Errorf("%w; the program ended", err)
	case errors.As(p.how, &exit) && exit.Exited():
		err = fmt.Errorf("%w; the program ended with %s", err, exit.ProcessState)
	}
	if text := p.said.text(); text != "" {
		return fmt.Errorf("%w; its last words: %s", err, text)
	}
	return err
}

func (p *process) closePipes() {
	p.closing.Do(func() { _, _ = p.stdin.Close(), p.stdout.Close() })
}

// lastWords keeps the end of what a program says, and tells each line to log. A
// line is cut only when the secrets are out of it: half of one is not known any
// more.
type lastWords struct {
	log  func(line string)
	mask mask.Mask

	mu      sync.Mutex
	partial string
	rest    bool // of a line of which enough was told
	lines   []string
}

const (
	keptLines = 10
	maxLine   = 500

	// maxPartial is how much of a line that does not end is waited for.
	maxPartial = 64 << 10
)

// Write takes the program's output in; it never fails.
func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partial += string(p)
	for {
		line, rest, ok := strings.Cut(l.partial, "\n")
		if !ok {
			break
		}
		l.partial = rest
		l.add(line)
		l.rest = false
	}
	if len(l.partial) > maxPartial {
		l.add(l.partial)
		l.partial, l.rest = "", true
	}
	return len(p), nil
}

func (l *lastWords) add(line string) {
	if line = l.clean(line); line == "" || l.rest {
		return
	}
	l.log(line)
	l.lines = append(l.lines, line)
	if len(l.lines) > keptLines {
		l.lines = l.lines[1:]
	}
}

// clean is a line as it may be shown.
func (l *lastWords) clean(line string) string {
	line = strings.TrimSpace(plainWords(l.mask.Text(line)))
	if len(line) > maxLine {
		line = strings.ToValidUTF8(line[:maxLine], "") + "…"
	}
	return line
}

// text is the last lines, "" when there was none.
func (l *lastWords) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.clean(l.partial)
	if l.rest {
		last = ""
	}
	return strings.TrimSpace(strings.Join(append(l.lines[:len(l.lines):len(l.lines)], last), "\n"))
}

var _ io.Writer = (*lastWords)(nil)
