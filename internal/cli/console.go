package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// errBreak is a Ctrl-C where an empty line was asked for.
var errBreak = errors.New("Ctrl-C")

// entry is what came of a prompt: a line, or why there is none. io.EOF is
// Ctrl-D or the end of the input.
type entry struct {
	text string
	err  error
}

// prompt asks for a line.
type prompt struct {
	text string

	// question says that what was typed before the prompt was shown is no
	// answer to it, and that the answer is no message to come back to.
	question bool
}

// console is where a person types, or a file stands that is read line by line.
// One line is asked for at a time.
type console interface {
	// ask shows a prompt. The channel gives one entry, unless the prompt is
	// withdrawn before.
	ask(p prompt) <-chan entry

	// withdraw takes the prompt back.
	withdraw()

	// close leaves the terminal as it was found.
	close()
}

// lines is a console without editing of its own: a pipe, or a terminal that
// edits lines itself.
type lines struct {
	prompts io.Writer // nil: none are shown
	got     chan entry
	gone    chan struct{} // closed when the prompt under way is withdrawn
}

func newLines(in io.Reader, prompts io.Writer) *lines {
	l := &lines{prompts: prompts, got: make(chan entry)}
	go l.pump(in)
	return l
}

// pump reads on until the input ends; the process does not wait for it.
func (l *lines) pump(in io.Reader) {
	reader := bufio.NewReader(in)
	for {
		text, err := reader.ReadString('\n')
		if text != "" {
			l.got <- entry{text: strings.TrimRight(text, "\r\n")}
		}
		if err != nil {
			close(l.got)
			return
		}
	}
}

func (l *lines) ask(p prompt) <-chan entry {
	for early := p.question; early; {
		select {
		case _, open := <-l.got:
			early = open
		default:
			early = false
		}
	}
	if l.prompts != nil {
		fmt.Fprint(l.prompts, p.text)
	}
	answer, gone := make(chan entry, 1), make(chan struct{})
	l.gone = gone
	go func() {
		select {
		case e, open := <-l.got:
			if !open {
				e.err = io.EOF
			}
			answer <- e
		case <-gone:
		}
	}()
	return answer
}

func (l *lines) withdraw() {
	close(l.gone)
	if l.prompts != nil {
		fmt.Fprintln(l.prompts)
	}
}

func (l *lines) close() {}
