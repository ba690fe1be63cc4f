package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
)

// Bounds of a policy: it is recorded in every turn and evaluated for every
// call.
const (
	MaxBytes      = 64 << 10 // of its JSON: it shares a payload with the first answer
	MaxRules      = 500
	MaxGlob       = 128   // bytes of one pattern
	MaxPointer    = 512   // bytes
	MaxRegex      = 1_000 // bytes
	MaxRegexInsts = 2_000 // of the compiled program: what one byte of text may cost
	MaxNumber     = 400   // bytes, and the size of an exponent
	MaxText       = 1_000 // runes of a reason or message
)

// CheckID says what is wrong with a rule's id, nil if nothing.
func CheckID(id string) error {
	if id == contract.PolicyDefaultRule {
		return errors.New("this id stands for the policy's default; take another")
	}
	if id == "" || len(id) > 64 || strings.Trim(id, nameChars+".") != "" || strings.ContainsRune("_-.", rune(id[0])) {
		return errors.New("want letters, digits, _, - and ., at most 64 characters, beginning with a letter or digit")
	}
	return nil
}

// nameChars are what names of tools and agents are made of.
const nameChars = "_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// CheckGlob says what is wrong with a pattern for names.
func CheckGlob(pattern string) error {
	if len(pattern) > MaxGlob {
		return fmt.Errorf("at most %d characters", MaxGlob)
	}
	if pattern == "" || strings.Trim(pattern, nameChars+"*?") != "" {
		return errors.New("want a name, in which * is any text and ? one character")
	}
	return nil
}

// CheckEffects says what is wrong with a tool's effects.
func CheckEffects(e contract.Effects) error {
	switch e {
	case contract.EffectsExternal, contract.EffectsSandbox, contract.EffectsNone:
		return nil
	}
	return errors.New("want external, sandbox or none")
}

// CheckPointer says what is wrong with a JSON Pointer.
func CheckPointer(pointer string) error {
	switch {
	case !strings.HasPrefix(pointer, "/"):
		return errors.New("want a JSON Pointer, like /amount or /items/0/id")
	case len(pointer) > MaxPointer:
		return fmt.Errorf("at most %d characters", MaxPointer)
	}
	for i, rest := 0, pointer; ; rest = rest[i+1:] {
		if i = strings.IndexByte(rest, '~'); i < 0 {
			return nil
		}
		if i+1 >= len(rest) || rest[i+1] != '0' && rest[i+1] != '1' {
			return errors.New("in a JSON Pointer ~ is written ~0, and / inside a key ~1")
		}
	}
}

// CheckRegex says what is wrong with a regular expression.
func CheckRegex(pattern string) error {
	if pattern == "" {
		return errors.New("is empty")
	}
	if len(pattern) > MaxRegex {
		return fmt.Errorf("at most %d characters", MaxRegex)
	}
	_, _, err := compileRegex(pattern)
	return err
}

// compileRegex anchors the pattern at both ends of the text. It is parsed alone
// and written out again, so that it cannot close the anchors' group or, with
// an open \Q, take them for text.
func compileRegex(pattern string) (re *regexp.Regexp, insts int, err error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, 0, errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, 0, err
	}
	if len(program.Inst) > MaxRegexInsts {
		return nil, 0, fmt.Errorf("is too costly: %d instructions, at most %d are allowed; repeat less", len(program.Inst), MaxRegexInsts)
	}
	re, err = regexp.Compile(`\A(?:` + parsed.String() + `)\z`)
	return re, len(program.Inst) + 4, err
}

// CheckNumber says what is wrong with a number to compare with.
func CheckNumber(n json.Number) error {
	if len(n) > MaxNumber {
		return fmt.Errorf("at most %d digits", MaxNumber)
	}
	if !isNumber(string(n)) {
		return errors.New("want a number in plain decimal, like 500 or 0.5")
	}
	if i := strings.IndexAny(string(n), "eE"); i >= 0 {
		if e, err := strconv.Atoi(string(n[i+1:])); err != nil || e > MaxNumber || e < -MaxNumber {
			return errors.New("its exponent is too large")
		}
	}
	return nil
}

// CheckScalar says what is wrong with a value to compare with.
func CheckScalar(text json.RawMessage) error {
	v, err := decode(string(text))
	if err != nil {
		return fmt.Errorf("is no JSON: %w", err)
	}
	if n, ok := v.(json.Number); ok {
		return CheckNumber(n)
	}
	if scalarOf(v).kind == 0 {
		return errors.New("want a text, a number or a boolean")
	}
	return nil
}
