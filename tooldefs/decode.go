package tooldefs

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/turnkeel/turnkeel/internal/schema"
)

// decodeArgs decodes canonical arguments. A number in an untyped place stays
// a json.Number. A key that encoding/json would match to a field only by
// ignoring its case is refused: it was not validated under that name.
func decodeArgs[In any](args string) (in In, err error) {
	tree, err := schema.Parse([]byte(args))
	if err != nil {
		return in, fmt.Errorf("the arguments text %w", err)
	}
	if err := checkExact(reflect.TypeFor[In](), tree); err != nil {
		return in, err
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(args)))
	dec.UseNumber()
	if err := dec.Decode(&in); err != nil {
		return in, decodeProblem(err)
	}
	return in, nil
}

// decodeProblem words a decoding error without Go's own type names.
func decodeProblem(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		path := mismatch.Field
		if path == "" {
			path = "the value"
		}
		return fmt.Errorf("%s: %s is not possible here", path, clip(mismatch.Value, 100))
	}
	return errors.New(clip(err.Error(), 300))
}

func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// checkExact walks type and value side by side.
func checkExact(t reflect.Type, v any) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if decodesItself(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		list, _ := v.([]any)
		for _, e := range list {
			if err := checkExact(t.Elem(), e); err != nil {
				return err
			}
		}
	case reflect.Map:
		m, _ := v.(map[string]any)
		for _, e := range m {
			if err := checkExact(t.Elem(), e); err != nil {
				return err
			}
		}
	case reflect.Struct:
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		return checkExactFields(t, m)
	}
	return nil
}

func checkExactFields(t reflect.Type, m map[string]any) error {
	fields := jsonFields(t)
	for k, e := range m {
		if f, ok := fields[k]; ok {
			if err := checkExact(f.Type, e); err != nil {
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
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" && f.Tag.Get("json") == "-" || f.PkgPath != "" && !f.Anonymous {
			continue
		}
		if f.Anonymous && name == "" {
			base := f.Type
			if base.Kind() == reflect.Pointer {
				base = base.Elem()
			}
			if base.Kind() == reflect.Struct {
				continue
			}
		}
		if name == "" {
			name = f.Name
		}
		if old, twice := out[name]; !twice || len(f.Index) < len(old.Index) {
			out[name] = f
		}
	}
	return out
}
