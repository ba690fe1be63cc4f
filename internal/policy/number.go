package policy

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// decimal is a number as its digits, so that comparing rounds nothing and
// costs no more than the text is long, whatever the exponent. Its value is
// 0.digits × 10^exponent; zero has no digits.
type decimal struct {
	negative bool
	digits   string // without leading and trailing zeros
	exponent int64
}

// parseDecimal reads a JSON number; ok is false for anything else.
func parseDecimal(s string) (d decimal, ok bool) {
	if !isNumber(s) {
		return decimal{}, false
	}
	s, d.negative = strings.CutPrefix(s, "-")
	mantissa, exponent := s, ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent = s[:i], s[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	leading := len(whole) + len(fraction) - len(digits)
	d.digits = strings.TrimRight(digits, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	d.exponent = parseExponent(exponent) + int64(len(whole)-leading)
	return d, true
}

// parseExponent clamps exponents that no one can mean: two of them may then
// compare equal, but each is still beyond every number a rule may hold.
func parseExponent(s string) int64 {
	if s == "" {
		return 0
	}
	const most = math.MaxInt64 / 4
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil { // out of range: the form has been checked
		if s[0] == '-' {
			return -most
		}
		return most
	}
	return max(-most, min(n, most))
}

// compare is -1, 0 or 1.
func (d decimal) compare(e decimal) int {
	if c := cmp.Compare(d.sign(), e.sign()); c != 0 || d.digits == "" {
		return c
	}
	c := cmp.Compare(d.exponent, e.exponent)
	if c == 0 {
		c = strings.Compare(d.digits, e.digits)
	}
	if d.negative {
		return -c
	}
	return c
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	default:
		return 1
	}
}

// isNumber checks the grammar of a JSON number.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := leadingDigits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if rest, point := strings.CutPrefix(s, "."); point {
		n := leadingDigits(rest)
		if n == 0 {
			return false
		}
		s = rest[n:]
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && leadingDigits(s) == len(s)
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
