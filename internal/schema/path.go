package schema

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// path is a place in a document, built cheaply while walking and rendered
// only when something is wrong there. Nil is the root.
type path struct {
	up  *path
	key string
	n   int // array index when key is not set
	arr bool
}

func (p *path) child(key string) *path { return &path{up: p, key: key} }
func (p *path) index(i int) *path      { return &path{up: p, n: i, arr: true} }

func (p *path) String() string {
	if p == nil {
		return ""
	}
	var parts []string
	for q := p; q != nil; q = q.up {
		if q.arr {
			parts = append(parts, strconv.Itoa(q.n))
		} else {
			parts = append(parts, q.key)
		}
	}
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return joinPath(parts)
}

// trail is the way to the place where a walk is, kept without an allocation for
// each step.
type trail []step

type step struct {
	key   string
	index int // when arr is set
	arr   bool
}

func (t trail) String() string {
	parts := make([]string, len(t))
	for i, s := range t {
		if parts[i] = s.key; s.arr {
			parts[i] = strconv.Itoa(s.index)
		}
	}
	return joinPath(parts)
}

// suffix is " at a.b", or nothing at the root.
func (t trail) suffix() string {
	if len(t) == 0 {
		return ""
	}
	return " at " + t.String()
}

// suffix is " at a.b", or nothing at the root.
func (p *path) suffix() string {
	if p == nil {
		return ""
	}
	return " at " + p.String()
}

func joinPath(parts []string) string { return cut(strings.Join(parts, "."), maxPathBytes) }

// cut bounds s to max bytes of valid UTF-8 without control characters.
func cut(s string, max int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= max {
		return s
	}
	end := max - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
