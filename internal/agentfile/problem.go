package agentfile

import (
	"fmt"
	"strings"
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
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
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

type place struct{ line, column int }

func problem(file string, at place, format string, args ...any) Problem {
	text := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	return Problem{File: file, Line: at.line, Column: at.column, Text: text}
}
