package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// Keys and sequences of a terminal.
const (
	ctrlC = 3
	// lineEnd and ctrlD ask a line editor whether its line is empty: at the end
	// of a line Ctrl-D does nothing, on an empty line it ends the input.
	lineEnd  = 5
	ctrlD    = 4
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

var (
	errCleared   = errors.New("line cleared")
	errWithdrawn = errors.New("prompt withdrawn")
)

// isTerminal says that a person is at the other end.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) //nolint:gosec // a file descriptor
}

// screenOf is the terminal that a stream is, if it is one that can move its
// cursor.
func screenOf(stream any) (*os.File, bool) {
	f, _ := stream.(*os.File)
	return f, isTerminal(stream) && os.Getenv("TERM") != "dumb"
}

// widthOf is the terminal's width, 0 if unknown.
func widthOf(f *os.File) int {
	w, _, err := term.GetSize(int(f.Fd())) //nolint:gosec // a file descriptor
	if err != nil {
		return 0
	}
	return w
}

// terminal is a console with line editing, history and bracketed paste. It
// holds the terminal in raw mode: a Ctrl-C while no line is asked for goes to
// breaks, and what is typed then waits for the next message.
type terminal struct {
	in, out *os.File
	was     *term.State
	breaks  chan<- struct{}
	message *term.Terminal // edits messages; its history is shared
	sizes   chan os.Signal

	mu      sync.Mutex
	changed sync.Cond
	typed   []byte
	ended   error
	reading *term.Terminal // the editor that a line is asked of
	gone    bool           // the prompt is withdrawn
	edited  chan struct{}  // closed when the prompt under way is done with
	probe   int            // how far a Ctrl-C at the prompt has been told: see Read
}

func newTerminal(in, out *os.File, breaks chan<- struct{}) (*terminal, error) {
	was, err := term.MakeRaw(int(in.Fd())) //nolint:gosec // a file descriptor
	if err != nil {
		return nil, fmt.Errorf("set the terminal up for editing: %w", err)
	}
	t := &terminal{in: in, out: out, was: was, breaks: breaks, sizes: make(chan os.Signal, 1)}
	t.changed.L = &t.mu
	t.message = term.NewTerminal(t, "")
	t.message.History = messages{t.message.History}
	signal.Notify(t.sizes, syscall.SIGWINCH)
	_, _ = io.WriteString(out, pasteOn)
	go t.pump()
	go t.resize()
	return t, nil
}

func (t *terminal) close() {
	signal.Stop(t.sizes)
	close(t.sizes)
	_, _ = io.WriteString(t.out, pasteOff)
	_ = term.Restore(int(t.in.Fd()), t.was) //nolint:gosec // a file descriptor
}

// pump takes keys in until the terminal is gone; the process does not wait for
// it.
func (t *terminal) pump() {
	buf := make([]byte, 4096)
	for {
		n, err := t.in.Read(buf)
		t.mu.Lock()
		t.take(buf[:n])
		if err != nil {
			t.ended = err
		}
		t.changed.Broadcast()
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take takes keys in. A Ctrl-C drops what was typed before it.
func (t *terminal) take(keys []byte) {
	for {
		i := bytes.IndexByte(keys, ctrlC)
		if i < 0 {
			t.typed = append(t.typed, keys...)
			return
		}
		unread := i > 0 || len(t.typed) > 0
		t.typed, keys = nil, keys[i+1:]
		if t.reading != nil {
			if t.probe = 1; unread { // the line was not empty
				t.probe = 2
			}
			continue
		}
		select {
		case t.breaks <- struct{}{}:
		default: // one more than anybody counts
		}
	}
}

// Read gives the line editor its keys, at most one line at once: what follows
// may be for another prompt. A Ctrl-C comes as keys that end the input if the
// line is empty, and then as errCleared.
func (t *terminal) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		switch {
		case t.gone:
			return 0, errWithdrawn
		case t.probe == 1:
			t.probe = 2
			return copy(p, []byte{lineEnd, ctrlD}), nil
		case t.probe == 2:
			t.probe = 0
			return 0, errCleared
		case len(t.typed) > 0:
			n := copy(p, t.typed[:lineLength(t.typed)])
			t.typed = t.typed[n:]
			return n, nil
		case t.ended != nil:
			return 0, io.EOF
		}
		t.changed.Wait()
	}
}

// lineLength is how many bytes there are up to the end of the first line.
func lineLength(keys []byte) int {
	i := bytes.IndexAny(keys, "\r\n")
	switch {
	case i < 0:
		return len(keys)
	case keys[i] == '\r' && i+1 < len(keys) && keys[i+1] == '\n':
		return i + 2
	}
	return i + 1
}

// Write is what the line editor shows.
func (t *terminal) Write(p []byte) (int, error) { return t.out.Write(p) }

func (t *terminal) ask(p prompt) <-chan entry {
	editor := t.message
	if p.question {
		editor = term.NewTerminal(t, "")
	}
	t.mu.Lock()
	t.gone, t.probe, t.reading, t.edited = false, 0, editor, make(chan struct{})
	edited := t.edited
	if p.question {
		t.typed = nil
	}
	t.mu.Unlock()
	answer := make(chan entry, 1)
	go func() {
		e := t.edit(editor, p)
		t.mu.Lock()
		t.reading = nil
		t.mu.Unlock()
		defer close(edited)
		if !errors.Is(e.err, errWithdrawn) {
			answer <- e
		}
	}()
	return answer
}

// edit has a line edited. What is pasted may have several; Enter ends it.
func (t *terminal) edit(editor *term.Terminal, p prompt) entry {
	t.fit(editor)
	var pasted strings.Builder
	editor.SetPrompt(p.text)
	for {
		line, err := editor.ReadLine()
		switch {
		case err == nil:
			return entry{text: pasted.String() + line}
		case errors.Is(err, term.ErrPasteIndicator):
			pasted.WriteString(line + "\n")
			editor.SetPrompt("… ")
		case errors.Is(err, errCleared), pasted.Len() > 0 && t.probed():
			pasted.Reset()
			_, _ = io.WriteString(t.out, "^C\r\n")
			editor = t.renewed(editor)
			editor.SetPrompt(p.text)
		case t.probed():
			_, _ = io.WriteString(t.out, "\r\n")
			return entry{err: errBreak}
		case errors.Is(err, errWithdrawn):
			_, _ = io.WriteString(t.out, "\r\x1b[J")
			return entry{err: err}
		default:
			_, _ = io.WriteString(t.out, "\r\n")
			return entry{err: io.EOF}
		}
	}
}

// probed says that an editor's end of input was a Ctrl-C on an empty line.
func (t *terminal) probed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.probe == 2
	t.probe = 0
	return was
}

// renewed is an editor with an empty line and the history of the last one.
func (t *terminal) renewed(last *term.Terminal) *term.Terminal {
	editor := term.NewTerminal(t, "")
	editor.History = last.History
	t.fit(editor)
	t.mu.Lock()
	defer t.mu.Unlock()
	if last == t.message {
		t.message = editor
	}
	t.reading = editor
	return editor
}

func (t *terminal) withdraw() {
	t.mu.Lock()
	t.gone = true
	edited := t.edited
	t.changed.Broadcast()
	t.mu.Unlock()
	<-edited // what is printed next begins where the prompt began
}

// fit tells an editor how large the terminal is.
func (t *terminal) fit(editor *term.Terminal) {
	if w, h, err := term.GetSize(int(t.out.Fd())); err == nil && w > 0 { //nolint:gosec // a file descriptor
		_ = editor.SetSize(w, h)
	}
}

func (t *terminal) resize() {
	for range t.sizes {
		t.mu.Lock()
		editor := t.reading
		t.mu.Unlock()
		if editor != nil {
			t.fit(editor)
		}
	}
}

// messages is a history without empty lines and repeats.
type messages struct{ term.History }

// Add implements [term.History].
func (m messages) Add(line string) {
	if strings.TrimSpace(line) != "" && (m.Len() == 0 || m.At(0) != line) {
		m.History.Add(line)
	}
}

// rawOutput writes to a terminal in raw mode, which does not begin a new line
// at its left edge by itself.
type rawOutput struct{ to io.Writer }

// Write implements [io.Writer].
func (r rawOutput) Write(p []byte) (int, error) {
	if _, err := r.to.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
