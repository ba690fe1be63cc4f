package sqlquery

import (
	"errors"
	"regexp"
	"strings"
)

// token is a part of a query. A literal and a number have no text: what is in
// them is never a call.
type token struct {
	kind rune   // word, literal, or the character itself
	text string // of a word, as the server reads it but for its length
}

const (
	word    = 'w'
	literal = '\''
)

var (
	errUnicodeName = errors.New(`names written as U&"…" are not taken; write the name itself`)
	errOpen        = errors.New("a quote, a comment or a name is not closed")
	errContinued   = errors.New("an E'…' literal that goes on in another line is not taken; write it as one")
)

var (
	blank   = regexp.MustCompile(`^[ \t\n\r\f\v]+`)
	line    = regexp.MustCompile(`^--[^\n\r]*`)
	name    = regexp.MustCompile(`^[A-Za-z_\x{80}-\x{10FFFF}][A-Za-z0-9_$\x{80}-\x{10FFFF}]*`)
	quoted  = regexp.MustCompile(`^"((?:[^"]|"")*)"`)
	plain   = regexp.MustCompile(`^(?:[BbXxNn]|[Uu]&)?'(?:[^']|'')*'`)
	escaped = regexp.MustCompile(`^[Ee]'(?:[^'\\]|''|\\[\s\S])*'`)
	dollar  = regexp.MustCompile(`^\$(?:[A-Za-z_\x{80}-\x{10FFFF}][A-Za-z0-9_\x{80}-\x{10FFFF}]*)?\$`)
	digits  = regexp.MustCompile(`^[0-9]+`)
)

// lex splits a query as PostgreSQL does, with standard_conforming_strings on.
// What it could read otherwise than the server it refuses.
func lex(query string) ([]token, error) {
	var tokens []token
	for rest := query; rest != ""; {
		size, t, err := next(rest)
		if err != nil {
			return nil, err
		}
		if t.kind != 0 {
			tokens = append(tokens, t)
		}
		rest = rest[size:]
	}
	return tokens, nil
}

// next is the token at the start of s, and its size in bytes. Blanks and comments
// have kind 0.
func next(s string) (size int, t token, err error) {
	switch {
	case blank.MatchString(s):
		return len(blank.FindString(s)), token{}, nil
	case strings.HasPrefix(s, "--"):
		return len(line.FindString(s)), token{}, nil
	case strings.HasPrefix(s, "/*"):
		return comment(s)
	case strings.HasPrefix(s, `U&"`), strings.HasPrefix(s, `u&"`):
		return 0, token{}, errUnicodeName
	case strings.HasPrefix(s, "E'"), strings.HasPrefix(s, "e'"):
		return escape(s)
	case plain.MatchString(s):
		return len(plain.FindString(s)), token{kind: literal}, nil
	case dollar.MatchString(s):
		tag := dollar.FindString(s)
		end := strings.Index(s[len(tag):], tag)
		if end < 0 {
			return 0, token{}, errOpen
		}
		return 2*len(tag) + end, token{kind: literal}, nil
	case name.MatchString(s):
		text := name.FindString(s)
		return len(text), token{kind: word, text: lower(text)}, nil
	case quoted.MatchString(s):
		m := quoted.FindStringSubmatch(s)
		return len(m[0]), token{kind: word, text: strings.ReplaceAll(m[1], `""`, `"`)}, nil
	case digits.MatchString(s):
		return len(digits.FindString(s)), token{kind: literal}, nil
	case s[0] == '\'' || s[0] == '"':
		return 0, token{}, errOpen
	}
	return 1, token{kind: rune(s[0])}, nil // operators are ASCII
}

// comment is one of /* … */, which nest.
func comment(s string) (int, token, error) {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1, token{}, nil
			}
		}
	}
	return 0, token{}, errOpen
}

// escape is an E'…' literal. The server reads one that follows in another line as
// a part of it, backslashes and all.
func escape(s string) (int, token, error) {
	text := escaped.FindString(s)
	if text == "" {
		return 0, token{}, errOpen
	}
	for rest := s[len(text):]; rest != ""; {
		if rest[0] == '\'' {
			return 0, token{}, errContinued
		}
		space := blank.FindString(rest) + line.FindString(rest)
		if space == "" {
			break
		}
		rest = rest[len(space):]
	}
	return len(text), token{kind: literal}, nil
}

// lower folds ASCII only, as the server does in UTF-8.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
