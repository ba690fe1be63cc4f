package tooldefs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	randv1 "math/rand" //nolint:depguard // testing/quick takes this one
	"math/rand/v2"
	"reflect"
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

// T06: Values of any kind, by the standard library's own generator.
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
