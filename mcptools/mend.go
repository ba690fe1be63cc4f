package mcptools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// mended is data as JSON where little keeps it from being that: control
// characters that stand bare in a text are escaped, and the numbers that JSON
// has not (NaN, Infinity, as Python writes them) become null. All else is left
// as it is.
func mended(data []byte) []byte {
	if len(data) == 0 || data[0] != '{' && data[0] != '[' || json.Valid(data) {
		return data
	}
	out, quoted := make([]byte, 0, len(data)+64), false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case quoted && c == '\\' && i+1 < len(data) && data[i+1] >= ' ':
			out = append(out, c, data[i+1])
			i++
			continue
		case quoted && c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
			continue
		case c == '"':
			quoted = !quoted
		case !quoted:
			if n := noNumber(data[i:]); n > 0 {
				out = append(out, "null"...)
				i += n - 1
				continue
			}
		}
		out = append(out, c)
	}
	if !json.Valid(out) {
		return data
	}
	return out
}

// noNumber is the length of what data begins with where that is a number that
// JSON has not, and else 0.
func noNumber(data []byte) int {
	for _, name := range []string{"NaN", "Infinity", "-Infinity", "-NaN"} {
		if bytes.HasPrefix(data, []byte(name)) {
			return len(name)
		}
	}
	return 0
}

// unreadable is the error that stands for a response that cannot be read, so
// that its call does not wait for it; ok is false for what is no response of
// which the request is known.
func unreadable(raw []byte, why string) (message []byte, ok bool) {
	id := idOf(raw)
	if id == "" {
		return nil, false
	}
	return failed(id, why), true
}

// failed is a response that leaves open what became of a request.
func failed(id, why string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, id, lost(why))
}

// idOf is the number of the request that a response answers, from as much of it
// as can be read; "" for what is no response or has no such number.
func idOf(raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	depth, id, key, isKey, versioned := 0, "", "", true, false
	for {
		token, err := d.Token()
		if err != nil { // the end, or what cannot be read
			if !versioned {
				return ""
			}
			return id
		}
		if delim, is := token.(json.Delim); is {
			if delim == '{' || delim == '[' {
				depth++
			} else {
				depth--
			}
			isKey = depth == 1
			continue
		}
		if depth != 1 {
			continue
		}
		if !isKey {
			if n, is := token.(json.Number); is && key == "id" {
				id = n.String()
			}
			isKey = true
			continue
		}
		key, isKey = fmt.Sprint(token), false
		switch key {
		case "method":
			return ""
		case "jsonrpc":
			versioned = true
		}
	}
}

// sameID says that a response has the id of a request, however it writes it.
func sameID(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}
