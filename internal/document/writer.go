package document

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// errFull says that the text has its full length. It ends the reading, and is
// no fault.
var errFull = errors.New("the text is full")

// writer gathers a text of bounded length.
type writer struct {
	b      strings.Builder
	notes  []string
	limit  int
	ctx    context.Context //nolint:containedctx // it lives as long as one Read
	writes int

	// Of a PDF, so far:
	operators int
	unknown   int  // glyphs that mean nothing known
	hand      hand // how the page writes from right to left
}

// write adds text; its error is errFull or the context's.
func (w *writer) write(text string) error {
	if w.writes++; w.writes%256 == 0 {
		if err := w.ctx.Err(); err != nil {
			return err
		}
	}
	if room := w.limit - w.b.Len(); len(text) > room {
		for room > 0 && !utf8.RuneStart(text[room]) {
			room--
		}
		w.b.WriteString(text[:room])
		return errFull
	}
	w.b.WriteString(text)
	return nil
}

// line ends the line, if one has begun.
func (w *writer) line() error {
	if w.b.Len() == 0 || strings.HasSuffix(w.b.String(), "\n") {
		return w.ctx.Err()
	}
	return w.write("\n")
}

// note adds a note, unless there are many.
func (w *writer) note(format string, args ...any) {
	const enough = 20
	if len(w.notes) < enough {
		w.notes = append(w.notes, fmt.Sprintf(format, args...))
	}
}

// text is what was gathered, legal and without trailing white space.
func (w *writer) text() string {
	return strings.TrimRight(strings.Map(printable, strings.ToValidUTF8(w.b.String(), "\ufffd")), " \t\n")
}

// printable drops what neither a person nor a model can see.
func printable(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return r
	case unicode.IsControl(r), r == 0xfeff:
		return -1
	}
	return r
}
