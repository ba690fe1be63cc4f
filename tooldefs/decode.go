package tooldefs

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/turnkeel/turnkeel/internal/schema"
)

// decoder decodes canonical arguments into an In. A number in an untyped place
// stays a json.Number. A key that encoding/json would match to a field only by
// ignoring its case is refused: it was not validated under that name.
type decoder[In any] struct {
	exact   exactness
	untyped bool // it has places of any type
}

func newDecoder[In any]() decoder[In] {
	d := decoder[In]{exact: exactness{}}
	d.exact.learn(reflect.TypeFor[In]())
	for t := range d.exact {
		d.untyped = d.untyped || t.Kind() == reflect.Interface
	}
	return d
}

func (d decoder[In]) decode(args string) (in In, err error) {
	tree, err := schema.Parse([]byte(args))
	if err != nil {
		return in, fmt.Errorf("the arguments text %w", err)
	}
	return d.decodeValue(args, tree)
}

// decodeValue is decode for a text that is parsed already.
func (d decoder[In]) decodeValue(args string, tree any) (in In, err error) {
	if err := d.exact.check(reflect.TypeFor[In](), tree); err != nil {
		return in, err
	}
	if !d.untyped {
		err = json.Unmarshal([]byte(args), &in)
	} else {
		dec := json.NewDecoder(strings.NewReader(args))
		dec.UseNumber()
		err = dec.Decode(&in)
	}
	if err != nil {
		return in, d.problem(err, tree)
	}
	return in, nil
}

// problem words a decoding error without Go's own type names.
func (d decoder[In]) problem(err error, tree any) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		path := mismatch.Field
		if path == "" {
			path = "the value"
		}
		return fmt.Errorf("%s: %s is not possible here", path, clip(mismatch.Value, 100))
	}
	if path := d.exact.blame(reflect.TypeFor[In](), tree, ""); path != "" {
		return fmt.Errorf("%s: %s", clip(path, 200), clip(err.Error(), 300))
	}
	return errors.New(clip(err.Error(), 300))
}

func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// exactness knows every type that a type reaches, so that a call need not
// reflect them again. It is complete before it is used.
type exactness map[reflect.Type]known

type known struct {
	itself bool                           // it decodes itself: nothing below it is ours to check
	fields map[string]reflect.StructField // of a struct
}

func (x exactness) learn(t reflect.Type) {
	if _, done := x[t]; done {
		return
	}
	if x[t] = (known{itself: decodesItself(t)}); x[t].itself {
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		x.learn(t.Elem())
	case reflect.Struct:
		x[t] = known{fields: jsonFields(t)}
		for _, f := range x[t].fields {
			x.learn(f.Type)
		}
	}
}

// anyItself says that a type among them decodes itself.
func (x exactness) anyItself() bool {
	for _, k := range x {
		if k.itself {
			return true
		}
	}
	return false
}

// check walks type and value side by side.
func (x exactness) check(t reflect.Type, v any) error {
	switch v := v.(type) {
	case []any:
		if t = x.base(t); t.Kind() != reflect.Slice && t.Kind() != reflect.Array || x[t].itself {
			return nil
		}
		for _, e := range v {
			if err := x.check(t.Elem(), e); err != nil {
				return err
			}
		}
	case map[string]any:
		switch t = x.base(t); {
		case x[t].itself:
		case t.Kind() == reflect.Struct:
			return x.checkFields(x[t].fields, v)
		case t.Kind() == reflect.Map:
			return x.checkMap(t, v)
		}
	case json.Number:
		return checkDigits(x.base(t), v)
	}
	return nil
}

func (x exactness) checkMap(t reflect.Type, m map[string]any) error {
	whole := reflect.Int <= t.Key().Kind() && t.Key().Kind() <= reflect.Uintptr && !decodesItself(t.Key())
	for k, e := range m {
		if whole && !plainInteger(k) {
			return fmt.Errorf("%s: is not written as a plain integer", clip(k, 100))
		}
		if err := x.check(t.Elem(), e); err != nil {
			return err
		}
	}
	return nil
}

// plainInteger says that a key is the one text of its number, so that no other
// key decodes to the same entry.
func plainInteger(k string) bool {
	digits := strings.TrimPrefix(k, "-")
	return k == "0" || digits != "" && digits[0] != '0' && strings.Trim(digits, "0123456789") == ""
}

// checkDigits refuses an integer that a float would round to another one: not
// the number that was validated and recorded.
func checkDigits(t reflect.Type, n json.Number) error {
	bits, short := 64, 15 // digits that a float of these bits always keeps
	switch t.Kind() {
	case reflect.Float32:
		bits, short = 32, 6
	case reflect.Float64:
	default:
		return nil
	}
	if len(n) <= short {
		return nil
	}
	written, ok := new(big.Rat).SetString(string(n))
	if !ok || !written.IsInt() {
		return nil
	}
	f, err := strconv.ParseFloat(string(n), bits)
	if err != nil {
		return nil // the decoder says so
	}
	read, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, bits))
	if !ok || read.Cmp(written) != 0 {
		return fmt.Errorf("the integer %s has more digits than this tool keeps", clip(string(n), 100))
	}
	return nil
}

// base is what the pointers lead to, or the last type that decodes itself.
func (x exactness) base(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer && !x[t].itself {
		t = t.Elem()
	}
	return t
}

func (x exactness) checkFields(fields map[string]reflect.StructField, m map[string]any) error {
	for k, e := range m {
		if f, ok := fields[k]; ok {
			if err := x.check(f.Type, e); err != nil {
				return err
			}
			continue
		}
		var close []string
		for name := range fields {
			if strings.EqualFold(name, k) {
				close = append(close, name)
			}
		}
		if len(close) > 0 {
			return fmt.Errorf("%s: differs only in case from the property %s", clip(k, 100), slices.Min(close))
		}
	}
	return nil
}

// jsonFields are the fields that JSON keys may name, embedded ones included.
func jsonFields(t reflect.Type) map[string]reflect.StructField {
	out := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, ok := jsonName(f)
		if old, twice := out[name]; ok && (!twice || len(f.Index) < len(old.Index)) {
			out[name] = f
		}
	}
	return out
}
