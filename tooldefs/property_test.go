package tooldefs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	randv1 "math/rand" //nolint:depguard // testing/quick takes this one
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/schema"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// seed makes the random tests repeatable.
const seed = 20_26

type leaf struct {
	S string         `json:"s"`
	N int64          `json:"n"`
	U uint8          `json:"u,omitempty"`
	B bool           `json:"b,omitempty"`
	M map[string]int `json:"m,omitempty"`
}

type branch struct {
	Leaf   leaf              `json:"leaf"`
	List   []leaf            `json:"list"`
	Next   *branch           `json:"next,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Grid   [2][]int32        `json:"grid"`
	Rest   map[string]*leaf  `json:"rest,omitempty"`
}

type special struct {
	Exact *big.Int          `json:"exact"`
	Num   json.Number       `json:"num"`
	When  time.Time         `json:"when,omitzero"`
	Wait  contract.Duration `json:"wait,omitempty"`
	Any   any               `json:"any"`
	Float float64           `json:"float"`
}

// T06, T23: what a typed handler receives re-encodes to the recorded canonical
// form, for random values written in random ways.
func TestT06_T23_HandlersReceiveTheRecordedValue(t *testing.T) {
	t.Parallel()
	received(t, randomLeaf)
	received(t, func(r *rand.Rand) branch { return randomBranch(r, 3) })
	received(t, func(r *rand.Rand) special {
		exact := new(big.Int).Lsh(big.NewInt(r.Int64()), uint(r.IntN(300)))
		return special{
			Exact: exact, Num: json.Number(fmt.Sprintf("%d.%d", r.Int64(), r.Uint32())), Wait: contract.Duration(r.Int64N(1e12)),
			When: time.Unix(r.Int64N(4e9), r.Int64N(1e9)).UTC(), Any: randomJSON(r, 3), Float: r.NormFloat64(),
		}
	})
	received(t, func(r *rand.Rand) map[string]leaf {
		m := map[string]leaf{}
		for range r.IntN(4) {
			m[randomText(r)] = randomLeaf(r)
		}
		return m
	})
}

func received[In any](t *testing.T, value func(*rand.Rand) In) {
	t.Helper()
	var got In
	tool := tooldefs.Define(tooldefs.Spec[In, string]{
		Name: "x", Description: "d", Effects: tooldefs.None,
		Handler: func(_ context.Context, _ *tooldefs.Call, in In) (string, error) { got = in; return "", nil },
	})
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range 400 {
		v := value(r)
		raw := rewrite(r, mustJSON(v))
		checked := tool.Check(raw)
		if checked.Problem != "" {
			t.Fatalf("%T, %d: %s\nof %s", v, i, checked.Problem, raw)
		}
		if _, err := tool.Invoke(context.Background(), testCall(), checked.Canonical); err != nil {
			t.Fatal(err)
		}
		again, err := schema.Canonical(mustJSON(got))
		if err != nil || string(again) != checked.Canonical {
			t.Fatalf("%T, %d: recorded %s\nreceived %s, %v", v, i, checked.Canonical, again, err)
		}
	}
}

// T06, T25: for random schemas and arguments, what a wrapped tool receives is
// byte for byte what was recorded, and the recorded form is a fixed point.
func TestT06_T25_RandomSchemas(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(seed, 2))
	accepted := 0
	for range 3_000 {
		raw := mustJSON(map[string]any{"type": "object", "properties": randomProperties(r, 3), "required": []string{"p0"}[:r.IntN(2)]})
		got := ""
		tool, err := tooldefs.Wrap(tooldefs.WrapSpec{
			Name: "x", Description: "d", Schema: raw,
			Invoke: func(_ context.Context, _ *tooldefs.Call, args json.RawMessage) (any, error) {
				got = string(args)
				return nil, nil
			},
		})
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		args := rewrite(r, mustJSON(randomArguments(r, raw)))
		checked := tool.Check(args)
		if (checked.Canonical == "") == (checked.Problem == "") {
			t.Fatalf("%s of %s: %+v", args, raw, checked)
		}
		if checked.Problem != "" {
			continue
		}
		accepted++
		if _, err := tool.Invoke(context.Background(), testCall(), checked.Canonical); err != nil {
			t.Fatal(err)
		}
		again, err := schema.Canonical([]byte(got))
		if err != nil || got != checked.Canonical || string(again) != got || tool.Check(got) != checked {
			t.Fatalf("%s of %s: recorded %s, received %s", args, raw, checked.Canonical, got)
		}
	}
	if accepted < 500 {
		t.Errorf("only %d arguments were accepted: the generator tests nothing", accepted)
	}
}

// Values of any kind, by the standard library's own generator.
func TestT06_Quick(t *testing.T) {
	t.Parallel()
	tool := echo[quickIn]("x")
	check := func(in quickIn) bool {
		checked := tool.Check(string(mustJSON(in)))
		got, err := tool.Invoke(context.Background(), testCall(), checked.Canonical)
		return checked.Problem == "" && err == nil && string(got.JSON) == checked.Canonical
	}
	values := func(args []reflect.Value, r *randv1.Rand) {
		v, _ := quick.Value(reflect.TypeFor[quickIn](), r)
		args[0] = v
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 300, Rand: randv1.New(randv1.NewSource(seed)), Values: values}); err != nil {
		t.Error(err)
	}
}

type quickIn struct {
	A []int64           `json:"a"`
	B map[string][]bool `json:"b"`
	C *struct {
		D string  `json:"d"`
		E float32 `json:"e"`
	} `json:"c" jsonschema:"nullable"`
	F [3]uint16 `json:"f"`
}

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
