package policy

import (
	"strconv"
	"strings"
)

// parsePointer splits a JSON Pointer (RFC 6901) into its unescaped tokens.
func parsePointer(pointer string) []string {
	tokens := strings.Split(pointer, "/")[1:]
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for i, t := range tokens {
		tokens[i] = unescape.Replace(t)
	}
	return tokens
}

// lookup follows the tokens; ok is false where they lead nowhere.
func lookup(v any, tokens []string) (_ any, ok bool) {
	for _, t := range tokens {
		switch at := v.(type) {
		case map[string]any:
			if v, ok = at[t]; !ok {
				return nil, false
			}
		case []any:
			i, ok := arrayIndex(t)
			if !ok || i >= len(at) {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// arrayIndex reads 0, 1, 2 …; "01", "+1" and "-" (the end) are none.
func arrayIndex(s string) (int, bool) {
	if s == "" || len(s) > 9 || len(s) > 1 && s[0] == '0' || leadingDigits(s) != len(s) {
		return 0, false
	}
	i, err := strconv.Atoi(s)
	return i, err == nil
}
