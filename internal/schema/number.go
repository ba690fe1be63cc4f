package schema

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// checkNumber refuses numbers that would cost the validator unbounded work or
// that no float64 holds: it compares some of them as floats and panics on an
// overflow.
func checkNumber(n json.Number) error {
	if len(n) > maxNumberLength {
		return errors.New("that is too long")
	}
	_, exp := splitExponent(string(n))
	if len(exp) > 5 {
		return errors.New("with too large an exponent")
	}
	if e, err := strconv.Atoi(exp); exp != "" && (err != nil || e > maxNumberLength || e < -maxNumberLength) {
		return errors.New("with too large an exponent")
	}
	if f, err := n.Float64(); err != nil || math.IsInf(f, 0) {
		return errors.New("that is too large")
	}
	return nil
}

func splitExponent(s string) (mantissa, exponent string) {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i], strings.TrimPrefix(s[i+1:], "+")
	}
	return s, ""
}

// integral gives the integer form of a number with an integral value: "1.0"
// and "1e2" become "1" and "100". It works on the digits, so nothing is
// rounded.
func integral(n json.Number) (json.Number, bool) {
	s := string(n)
	neg := strings.HasPrefix(s, "-")
	mantissa, exponent := splitExponent(strings.TrimPrefix(s, "-"))
	exp := 0
	if exponent != "" {
		e, err := strconv.Atoi(exponent)
		if err != nil || e > maxNumberLength || e < -maxNumberLength {
			return n, false
		}
		exp = e
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits, point := whole+frac, len(whole)+exp
	if point > len(digits) {
		digits += strings.Repeat("0", point-len(digits))
	}
	if point < 0 {
		digits, point = strings.Repeat("0", -point)+digits, 0
	}
	if strings.Trim(digits[point:], "0") != "" {
		return n, false
	}
	digits = strings.TrimLeft(digits[:point], "0")
	if digits == "" {
		return "0", true
	}
	if neg {
		digits = "-" + digits
	}
	return json.Number(digits), true
}

// exactAsFloat says that comparing the number as a float64 is safe.
func exactAsFloat(n json.Number) bool {
	f, err := n.Float64()
	return err == nil && math.Abs(f) < 1<<53
}
