package agentfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Problem is one thing wrong with one agent.
type Problem struct {
	File   string
	Line   int // from 1; 0 when the problem is the file's as a whole
	Column int // from 1; 0 like Line
	Text   string
}

// String is "file:line:column: text", as editors and terminals link it.
func (p Problem) String() string {
	if p.Line == 0 {
		return visible(p.File) + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", visible(p.File), p.Line, p.Column, p.Text)
}

// Errors is every problem of every agent, in the order of the files. It is
// never returned empty.
type Errors []Problem

// Error has one line for each problem.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, p := range e {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// orNil is the errors as an error, or nil when there are none.
func (e Errors) orNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// Join is every problem of the errors, those of files first and in the order of
// their places, as one error; nil when there is none.
func Join(errs ...error) error {
	var problems Errors
	var others []error
	for _, err := range errs {
		var own Errors
		switch {
		case errors.As(err, &own):
			problems = append(problems, own...)
		case err != nil:
			others = append(others, err)
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if len(others) == 0 {
		return problems.orNil()
	}
	return errors.Join(append([]error{problems.orNil()}, others...)...)
}

// visible shows a character that a terminal would obey, or would not show, by its
// escape: a file or a server does not say how a message looks.
func visible(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

type place struct{ line, column int }

func problem(file string, at place, format string, args ...any) Problem {
	text := visible(strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "))
	return Problem{File: file, Line: at.line, Column: at.column, Text: text}
}
