package sqlquery

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"
)

// maxValue bounds a value or a row inside the engine.
const maxValue = 4 << 20

// unbounded are SQLite's functions that take time by the product of their
// arguments' sizes, within one step, where no deadline reaches; and those that
// do more than compute. They are denied.
var unbounded = []string{"load_extension", "fts3_tokenizer", "sqlite_log", "decimal_mul", "decimal_pow2", "json_patch", "jsonb_patch"}

// replaceFunctions puts others in the place of SQLite's, with the same results
// for text that is UTF-8, that take time by the sum of their arguments' sizes.
func replaceFunctions(conn *sqlite3.Conn) error {
	const flags = sqlite3.DETERMINISTIC | sqlite3.INNOCUOUS
	var problems []error
	for _, f := range []struct {
		name string
		args int
		run  sqlite3.ScalarFunction
	}{
		{"instr", 2, instr},
		{"replace", 3, replaceText},
		{"trim", 2, trim(true, true)},
		{"ltrim", 2, trim(true, false)},
		{"rtrim", 2, trim(false, true)},
		{"unhex", 2, func(ctx sqlite3.Context, _ ...sqlite3.Value) {
			ctx.ResultError(errors.New("unhex takes one argument here"))
		}},
	} {
		problems = append(problems, conn.CreateFunction(f.name, f.args, flags, nullOf(f.run)))
	}
	return errors.Join(problems...)
}

// nullOf gives NULL if one of the first two arguments is.
func nullOf(run sqlite3.ScalarFunction) sqlite3.ScalarFunction {
	return func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		for _, a := range arg[:2] {
			if a.Type() == sqlite3.NULL {
				ctx.ResultNull()
				return
			}
		}
		run(ctx, arg...)
	}
}

// instr counts from 1: bytes where both are blobs, else characters.
func instr(ctx sqlite3.Context, arg ...sqlite3.Value) {
	if arg[0].Type() == sqlite3.BLOB && arg[1].Type() == sqlite3.BLOB {
		ctx.ResultInt(bytes.Index(arg[0].RawBlob(), arg[1].RawBlob()) + 1)
		return
	}
	text, part := arg[0].Text(), arg[1].Text()
	at := strings.Index(text, part)
	if at < 0 {
		ctx.ResultInt(0)
		return
	}
	ctx.ResultInt(utf8.RuneCountInString(text[:at]) + 1)
}

func replaceText(ctx sqlite3.Context, arg ...sqlite3.Value) {
	text, from, to := arg[0].Text(), arg[1].Text(), arg[2].Text()
	switch {
	case from == "":
		ctx.ResultText(text) // even where to is NULL
	case arg[2].Type() == sqlite3.NULL:
		ctx.ResultNull()
	case len(text)+strings.Count(text, from)*(len(to)-len(from)) > maxValue:
		ctx.ResultError(sqlite3.TOOBIG)
	default:
		ctx.ResultText(strings.ReplaceAll(text, from, to))
	}
}

func trim(left, right bool) sqlite3.ScalarFunction {
	return func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		text, cutset := arg[0].Text(), map[rune]bool{}
		for _, r := range arg[1].Text() {
			cutset[r] = true
		}
		in := func(r rune) bool { return cutset[r] }
		if left {
			text = strings.TrimLeftFunc(text, in)
		}
		if right {
			text = strings.TrimRightFunc(text, in)
		}
		ctx.ResultText(text)
	}
}
