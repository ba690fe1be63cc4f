package agenttest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// crashProcess is a worker process of a crash run.
type crashProcess struct {
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ready chan struct{} // closed when it takes tasks
	dying chan struct{} // closed when it ends itself, or is gone
	done  chan struct{} // closed when it is gone and all it said is read

	log *crashLog

	mu     sync.Mutex
	asked  bool // its end is wanted
	ended  time.Time
	starts []crashReport          // every attempt it began
	now    map[string]crashReport // attempts under way, by turn and activity
}

// startCrashProcess runs this test binary as a worker.
func startCrashProcess(c crashConfig, env []string) (*crashProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	p := &crashProcess{
		name: c.Name, ready: make(chan struct{}), dying: make(chan struct{}), done: make(chan struct{}),
		log: &crashLog{}, now: map[string]crashReport{},
	}
	reports, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()         // the child has its own
	p.cmd = exec.Command(self, "-test.run=^$") // runs no test where CrashWorker is forgotten
	p.cmd.Env = append(append(os.Environ(), env...), crashEnv+"="+string(config))
	p.cmd.ExtraFiles = []*os.File{out}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		_ = reports.Close()
		return nil, fmt.Errorf("start a worker process: %w", err)
	}
	go p.follow(reports)
	return p, nil
}

// follow reads what the process says until it is gone.
func (p *crashProcess) follow(reports *os.File) {
	lines := bufio.NewScanner(reports)
	for lines.Scan() {
		var r crashReport
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			p.take(r)
		}
	}
	_ = reports.Close()
	_ = p.cmd.Wait()
	p.take(crashReport{Kind: crashEnd, At: time.Now()})
	close(p.done)
}

func (p *crashProcess) take(r crashReport) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r.Kind {
	case crashReady:
		close(p.ready)
	case crashStart:
		p.starts = append(p.starts, r)
		p.now[r.Turn+"/"+r.Activity] = r
	case crashDone:
		delete(p.now, r.Turn+"/"+r.Activity)
	case crashEnd:
		p.end(r.At)
		select {
		case <-p.dying:
		default:
			close(p.dying)
		}
	}
}

// busy says whether the process has a call of that turn under way.
func (p *crashProcess) busy(turn string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.now {
		if strings.HasPrefix(key, turn+"/") {
			return true
		}
	}
	return false
}

// gone says whether the process is gone, or about to.
func (p *crashProcess) gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked || !p.ended.IsZero()
}

// signal ends the process from outside.
func (p *crashProcess) signal(s syscall.Signal) {
	p.mu.Lock()
	p.asked = true
	p.end(time.Now())
	p.mu.Unlock()
	_ = p.cmd.Process.Signal(s)
}

// end notes when the end began; p.mu is held.
func (p *crashProcess) end(at time.Time) {
	if p.ended.IsZero() {
		p.ended = at
	}
}

// doom has the process end itself at that point of its next activity.
func (p *crashProcess) doom(at crashPoint) {
	p.mu.Lock()
	p.asked = true
	p.mu.Unlock()
	_, _ = fmt.Fprintln(p.stdin, at)
}

// fault is why the process ended, if nobody wanted it to.
func (p *crashProcess) fault() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked {
		return nil
	}
	select {
	case <-p.ready:
		return fmt.Errorf("worker process %s ended by itself: %s", p.name, p.log)
	default:
		return errors.New("a worker process ended before it took a task; does TestMain begin with agenttest.CrashWorker? It said: " + p.log.String())
	}
}

// crashLog keeps the last words of a process.
type crashLog struct {
	mu   sync.Mutex
	text []byte
}

const crashLogBytes = 2 << 10

// Write keeps the end of what is written.
func (l *crashLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	l.text = l.text[max(0, len(l.text)-crashLogBytes):]
	return len(p), nil
}

// String is what was kept.
func (l *crashLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(l.text))
}
