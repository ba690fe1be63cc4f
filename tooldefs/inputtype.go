package tooldefs

import (
	"fmt"
	"reflect"
	"strings"
)

// checkDecodable finds the parts of an input type that would have a schema and
// never get a value: interfaces with methods, and fields whose JSON name another
// field takes as well, which encoding/json leaves out without a word.
func checkDecodable(t reflect.Type) error { return decodable(t, map[reflect.Type]bool{}, "") }

func decodable(t reflect.Type, seen map[reflect.Type]bool, path string) error {
	if seen[t] || decodesItself(t) {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return fmt.Errorf("field %s: JSON cannot be decoded into the interface %s", path, t)
		}
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return decodable(t.Elem(), seen, path)
	case reflect.Struct:
		if name := takenTwice(t); name != "" {
			return fmt.Errorf("%s has two fields of the JSON name %q, and neither gets a value", t, name)
		}
		for name, f := range jsonFields(t) {
			if err := decodable(f.Type, seen, strings.TrimPrefix(path+"."+name, ".")); err != nil {
				return err
			}
		}
	}
	return nil
}

// claim is how strongly fields of a struct claim a JSON name.
type claim struct {
	depth, fields int
	tagged        bool
}

// takenTwice is a JSON name that two fields of a struct have with equal right:
// at the least depth, both with a tag or both without.
func takenTwice(t reflect.Type) string {
	claims := map[string]claim{}
	collectClaims(t, 0, claims, map[reflect.Type]bool{})
	twice := ""
	for name, c := range claims {
		if c.fields > 1 && (twice == "" || name < twice) {
			twice = name
		}
	}
	return twice
}

func collectClaims(t reflect.Type, depth int, claims map[string]claim, open map[reflect.Type]bool) {
	if open[t] {
		return
	}
	open[t] = true
	defer delete(open, t)
	for i := range t.NumField() {
		f := t.Field(i)
		name, tagged, ok := jsonName(f)
		if !ok {
			if inner, embedded := embeddedStruct(f); embedded {
				collectClaims(inner, depth+1, claims, open)
			}
			continue
		}
		old, has := claims[name]
		switch {
		case !has || depth < old.depth || depth == old.depth && tagged && !old.tagged:
			claims[name] = claim{depth, 1, tagged}
		case depth == old.depth && tagged == old.tagged:
			old.fields++
			claims[name] = old
		}
	}
}

// embeddedStruct is the struct whose fields JSON takes for the outer one's.
func embeddedStruct(f reflect.StructField) (reflect.Type, bool) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if !f.Anonymous || name != "" {
		return nil, false
	}
	base := f.Type
	if base.Kind() == reflect.Pointer {
		base = base.Elem()
	}
	return base, base.Kind() == reflect.Struct
}

// jsonName is the name of a field in JSON; ok is false for a field that JSON
// does not see, or sees only the fields of.
func jsonName(f reflect.StructField) (name string, tagged, ok bool) {
	tag := f.Tag.Get("json")
	name, _, _ = strings.Cut(tag, ",")
	if tag == "-" || f.PkgPath != "" && !f.Anonymous {
		return "", false, false
	}
	if _, embedded := embeddedStruct(f); embedded {
		return "", false, false
	}
	if name == "" {
		return f.Name, false, true
	}
	return name, true, true
}
