package agentfile

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// count reads a whole number of at least 1.
func (r *reader) count(n ast.Node, what string) int {
	const most = 1 << 31
	var f float64 // holds every whole number below most
	switch v := n.(type) {
	case *ast.IntegerNode:
		if r.ambiguous(n, what) {
			return 0
		}
		if i, ok := v.Value.(uint64); ok && i < most {
			f = float64(i)
		}
	case *ast.FloatNode:
		f = v.Value
	case *ast.StringNode:
		if !numeric(v) {
			r.wrongType(n, what, "a whole number")
			return 0
		}
		f = exponent(v)
	default:
		r.wrongType(n, what, "a whole number")
		return 0
	}
	if f < 1 || f >= most || f != math.Trunc(f) {
		r.report(at(n), "%s: want a whole number from 1 to %d, found %s", what, most-1, bound(n.String(), 40))
		return 0
	}
	return int(f)
}

// exponent is the value of a number like 1e3, which the YAML reader takes for
// text; infinite when no float64 holds it.
func exponent(v *ast.StringNode) float64 {
	f, err := strconv.ParseFloat(v.Value, 64)
	if err != nil {
		return math.Inf(1)
	}
	return f
}

// ambiguous reports a number that is another one, or text, to other readers of
// YAML: 017 is fifteen to the old ones and seventeen to an editor.
func (r *reader) ambiguous(n ast.Node, what string) bool {
	text := strings.TrimLeft(n.GetToken().Value, "+-")
	old := len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9'
	if !old && !strings.Contains(text, "_") && !strings.HasPrefix(text, "0b") {
		return false
	}
	r.report(at(n), "%s: %s is not the same number to every reader of YAML; write it in plain digits", what, quote(n.GetToken().Value))
	return true
}

// number reads a number between lo and hi, both included.
func (r *reader) number(n ast.Node, what string, lo, hi float64) (float64, bool) {
	var f float64
	switch v := n.(type) {
	case *ast.FloatNode:
		f = v.Value
	case *ast.StringNode:
		if !numeric(v) {
			r.wrongType(n, what, "a number")
			return 0, false
		}
		f = exponent(v)
	case *ast.IntegerNode:
		if r.ambiguous(n, what) {
			return 0, false
		}
		switch i := v.Value.(type) {
		case uint64:
			f = float64(i)
		case int64:
			f = float64(i)
		}
	case *ast.InfinityNode, *ast.NanNode:
		f = math.NaN() // in no range
	default:
		r.wrongType(n, what, "a number")
		return 0, false
	}
	if !(f >= lo && f <= hi) {
		r.report(at(n), "%s: want a number from %g to %g, found %s", what, lo, hi, bound(n.String(), 40))
		return 0, false
	}
	return f, true
}

// duration reads a positive duration like 30m.
func (r *reader) duration(n ast.Node, what string) time.Duration {
	const want = "a duration like 90s, 30m or 24h"
	text, ok := textOf(n)
	if !ok {
		if kindOf(n) == aNumber {
			r.report(at(n), "%s: want %s, found %s without a unit", what, want, bound(n.GetToken().Value, 40))
			return 0
		}
		r.wrongType(n, what, want)
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || strings.HasPrefix(text, "+") {
		r.report(at(n), "%s: want %s, found %s", what, want, quote(text))
		return 0
	}
	return d
}
