package tooldefs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/turnkeel/turnkeel/internal/schema"
)

func randomText(r *rand.Rand) string {
	const letters = "ab\"\\<>&é\u2028\U0001F600 \t0"
	runes := []rune(letters)
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteRune(runes[r.IntN(len(runes))])
	}
	return b.String()
}

func randomLeaf(r *rand.Rand) leaf {
	l := leaf{S: randomText(r), N: r.Int64() - r.Int64(), U: uint8(r.IntN(256)), B: r.IntN(2) == 0}
	for range r.IntN(3) {
		if l.M == nil {
			l.M = map[string]int{}
		}
		l.M[randomText(r)] = r.Int()
	}
	return l
}

func randomBranch(r *rand.Rand, depth int) branch {
	b := branch{Leaf: randomLeaf(r), List: []leaf{}, Grid: [2][]int32{{}, {r.Int32()}}}
	for range r.IntN(3) {
		b.List = append(b.List, randomLeaf(r))
	}
	if depth > 0 && r.IntN(2) == 0 {
		next := randomBranch(r, depth-1)
		b.Next = &next
	}
	if r.IntN(2) == 0 {
		l := randomLeaf(r)
		b.Rest, b.Labels = map[string]*leaf{"a" + randomText(r): &l}, map[string]string{randomText(r): randomText(r)}
	}
	return b
}

func randomJSON(r *rand.Rand, depth int) any {
	switch n := r.IntN(7); {
	case n == 0:
		return nil
	case n == 1:
		return r.IntN(2) == 0
	case n == 2:
		return json.Number(fmt.Sprint(r.Int64()))
	case n == 3 || depth == 0:
		return randomText(r)
	case n < 5:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, randomJSON(r, depth-1))
		}
		return list
	default:
		m := map[string]any{}
		for i := range r.IntN(4) {
			m[fmt.Sprintf("p%d", i)] = randomJSON(r, depth-1)
		}
		return m
	}
}

func randomProperties(r *rand.Rand, depth int) map[string]any {
	props := map[string]any{}
	for i := range 1 + r.IntN(3) {
		props[fmt.Sprintf("p%d", i)] = randomSchema(r, depth)
	}
	return props
}

func randomSchema(r *rand.Rand, depth int) any {
	kind := r.IntN(9)
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0:
		return map[string]any{"type": "integer", "minimum": r.IntN(10) - 5}
	case 1:
		return map[string]any{"type": "string", "maxLength": r.IntN(8)}
	case 2:
		return map[string]any{"enum": []any{"a", 1, nil, true}}
	case 3:
		return map[string]any{"type": []string{"number", "null"}, "default": 7}
	case 4:
		return true
	case 5:
		return map[string]any{"type": "array", "items": randomSchema(r, depth-1), "maxItems": 1 + r.IntN(4)}
	case 6:
		return map[string]any{"anyOf": []any{randomSchema(r, depth-1), randomSchema(r, depth-1)}}
	default:
		return map[string]any{"type": "object", "properties": randomProperties(r, depth-1), "additionalProperties": r.IntN(2) == 0}
	}
}

// randomArguments are arguments that often fit the schema.
func randomArguments(r *rand.Rand, raw []byte) any {
	tree, err := schema.Parse(raw)
	if err != nil {
		panic(err)
	}
	return fitting(r, tree, 4)
}

func fitting(r *rand.Rand, node any, depth int) any {
	m, ok := node.(map[string]any)
	if !ok || depth == 0 || r.IntN(15) == 0 {
		return randomJSON(r, 2)
	}
	if choice, ok := m["enum"].([]any); ok {
		return choice[r.IntN(len(choice))]
	}
	if choice, ok := m["anyOf"].([]any); ok {
		return fitting(r, choice[r.IntN(len(choice))], depth-1)
	}
	switch m["type"] {
	case "integer":
		return json.Number(fmt.Sprint(r.Int64()))
	case "string":
		return "ab"[:r.IntN(3)]
	case "array":
		return []any{fitting(r, m["items"], depth-1)}
	case "object":
		out := map[string]any{}
		props, _ := m["properties"].(map[string]any)
		for i := range 3 { // in an order that does not change
			name := fmt.Sprintf("p%d", i)
			if prop, has := props[name]; has && r.IntN(4) > 0 {
				out[name] = fitting(r, prop, depth-1)
			}
		}
		return out
	}
	return nil
}

// rewrite writes a JSON document in another way: white space, escapes, and now
// and then a document inside of a string.
func rewrite(r *rand.Rand, data []byte) string {
	var out bytes.Buffer
	switch r.IntN(4) {
	case 0:
		return string(data)
	case 1:
		if err := json.Indent(&out, data, " ", "\t"); err != nil {
			panic(err)
		}
	case 2:
		json.HTMLEscape(&out, data)
	default:
		out.Write(mustJSON(string(data)))
	}
	return out.String()
}
