package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
)

// printer shows a turn's events to a person. On a terminal the model's text is
// printed as it comes and progress is shown in place; elsewhere each answer is
// printed whole, so that nothing a dead worker said half is printed twice.
type printer struct {
	say      func(format string, args ...any)
	out      io.Writer
	turn     string // for the commands that are printed
	terminal bool
	width    int

	partial  strings.Builder // the text shown of the call under way
	activity string          // whose it is
	inPlace  bool            // a progress line stands, to be written over
	noAsk    bool            // whoever prints asks by itself
}

func (a *app) printer(turn string) *printer {
	p := &printer{say: a.say, out: a.out, turn: turn}
	if f, ok := screenOf(a.out); ok && !a.json() {
		p.screen(f)
	}
	return p
}

// screen says that the output is, or still is, a terminal whose cursor moves.
func (p *printer) screen(f *os.File) {
	if f != nil {
		p.terminal, p.width = true, widthOf(f)
	}
}

// event prints one event.
func (p *printer) event(e turnkeel.Event) {
	switch e.Kind {
	case turnkeel.EventText:
		p.text(e)
	case turnkeel.EventProgress:
		p.progress(e)
	case turnkeel.EventRestarted:
		p.erase()
	case turnkeel.EventDone:
		p.finish()
	default:
		if e.Kind == turnkeel.EventRetrying && e.Activity == p.activity {
			p.erase() // what the failed attempt said is said anew
		}
		if line := lineOf(e, p.shown(e)); line != "" {
			p.line(e, line)
		}
		if e.Kind == turnkeel.EventWaiting && !p.noAsk {
			p.say("%s", commandsFor(p.turn, *e.Pending))
		}
	}
}

// finish ends the line that stands half, if one does: it stays.
func (p *printer) finish() {
	p.endProgress()
	if p.partial.Len() > 0 {
		fmt.Fprintln(p.out)
		p.partial.Reset()
	}
}

// line prints a whole line, after what stands in place is done with.
func (p *printer) line(e turnkeel.Event, line string) {
	p.endProgress()
	if e.Activity == p.activity {
		p.finish()
	}
	p.say("%s  %s", e.Time.Local().Format(time.TimeOnly), line)
}

// shown says that the answer's text stands on the terminal already.
func (p *printer) shown(e turnkeel.Event) bool {
	if e.Kind != turnkeel.EventAnswer || p.partial.Len() == 0 || e.Activity != p.activity {
		return false
	}
	said := p.partial.String()
	if rest, ok := strings.CutPrefix(onTerminal(e.Text), said); ok {
		fmt.Fprint(p.out, rest) // what came after the last look
		return true
	}
	p.erase()
	return false
}

// onTerminal is a text whose width on a terminal is known.
func onTerminal(text string) string { return strings.ReplaceAll(plain(text), "\t", "    ") }

func (p *printer) text(e turnkeel.Event) {
	if !p.terminal {
		return
	}
	p.endProgress()
	if e.Activity != p.activity {
		p.partial.Reset()
		p.activity = e.Activity
	}
	text := onTerminal(e.Text)
	p.partial.WriteString(text)
	fmt.Fprint(p.out, text)
}

// erase takes the text of a dead attempt from the terminal.
func (p *printer) erase() {
	p.endProgress()
	if p.partial.Len() == 0 {
		return
	}
	rows := rowsOf(p.partial.String(), p.width)
	if rows > 1 {
		fmt.Fprintf(p.out, "\x1b[%dA", rows-1)
	}
	fmt.Fprint(p.out, "\r\x1b[J")
	p.partial.Reset()
}

func (p *printer) progress(e turnkeel.Event) {
	line := "  … " + e.Tool + " " + contract.BoundText(plain(string(e.Progress)), 100)
	if !p.terminal {
		p.say("%s  tool  %s", e.Time.Local().Format(time.TimeOnly), line)
		return
	}
	if p.width > 1 {
		line = firstCells(strings.ReplaceAll(line, "\n", " "), p.width-1)
	}
	fmt.Fprint(p.out, "\r\x1b[K"+line)
	p.inPlace = true
}

func (p *printer) endProgress() {
	if p.inPlace {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.inPlace = false
	}
}
