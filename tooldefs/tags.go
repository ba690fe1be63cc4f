package tooldefs

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// checkTags compares the jsonschema tags of a struct with the schema they
// gave. The reflector ignores what it does not understand; a constraint that
// silently does nothing is a mistake to be told about.
func checkTags(t reflect.Type, root, node map[string]any, path string) error {
	return tagCheck{root: root, seen: map[reflect.Type]bool{}}.visit(t, node, path)
}

type tagCheck struct {
	root map[string]any
	seen map[reflect.Type]bool
}

func (c tagCheck) visit(t reflect.Type, node map[string]any, path string) error {
	node = follow(c.root, node)
	if decodesItself(t) && t.Kind() != reflect.Pointer || node == nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return c.visit(t.Elem(), node, path)
	case reflect.Slice, reflect.Array:
		items, _ := node["items"].(map[string]any)
		return c.visit(t.Elem(), items, path)
	case reflect.Map:
		extra, _ := node["additionalProperties"].(map[string]any)
		return c.visit(t.Elem(), extra, path)
	case reflect.Struct:
		if c.seen[t] {
			return nil
		}
		c.seen[t] = true
		defer delete(c.seen, t)
		return c.fields(t, node, path)
	}
	return nil
}

func (c tagCheck) fields(t reflect.Type, node map[string]any, path string) error {
	props, _ := node["properties"].(map[string]any)
	for name, f := range jsonFields(t) {
		prop, _ := props[name].(map[string]any)
		if prop != nil {
			if one, ok := prop["oneOf"].([]any); ok && strings.Contains(f.Tag.Get("jsonschema"), "nullable") && len(one) > 0 {
				prop, _ = one[0].(map[string]any)
			}
		}
		at := strings.TrimPrefix(path+"."+f.Name, ".")
		for _, tag := range splitTag(f.Tag.Get("jsonschema")) {
			if err := checkTag(tag, node, prop); err != nil {
				return fmt.Errorf("field %s: %w", at, err)
			}
		}
		if prop == nil {
			continue
		}
		if err := c.visit(f.Type, prop, at); err != nil {
			return err
		}
	}
	return nil
}

func checkTag(tag string, parent, prop map[string]any) error {
	key, _, isPair := strings.Cut(tag, "=")
	if !isPair {
		switch tag {
		case "", "-", "required", "nullable":
			return nil
		}
		return fmt.Errorf("the jsonschema tag %q means nothing (a comma inside a value is written \\\\,)", tag)
	}
	switch {
	case strings.HasPrefix(key, "oneof_"), strings.HasPrefix(key, "anyof_"), key == "readOnly", key == "writeOnly":
		return nil
	case key == "anchor":
		key = "$anchor"
	case key == "example":
		key = "examples"
	}
	items, _ := prop["items"].(map[string]any)
	if _, has := prop[key]; has {
		return nil
	}
	if _, has := items[key]; has {
		return nil
	}
	return fmt.Errorf("the jsonschema tag %q has no effect on it", tag)
}

// splitTag splits at the commas that no backslash precedes, as the reflector
// does.
func splitTag(tag string) []string {
	var out []string
	var cur strings.Builder
	for i := 0; i < len(tag); i++ {
		switch {
		case tag[i] == '\\' && i+1 < len(tag) && tag[i+1] == ',':
			cur.WriteByte(',')
			i++
		case tag[i] == ',':
			out = append(out, cur.String())
			cur.Reset()
		default:
			cur.WriteByte(tag[i])
		}
	}
	return append(out, cur.String())
}

// checkMarshallable finds the parts of an output type that JSON cannot hold.
func checkMarshallable(t reflect.Type) error { return marshallable(t, map[reflect.Type]bool{}, "") }

func marshallable(t reflect.Type, seen map[reflect.Type]bool, path string) error {
	if seen[t] || writesItself(t) {
		return nil
	}
	seen[t] = true
	at := ""
	if path != "" {
		at = " in field " + path
	}
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Errorf("it cannot be marshalled: %s%s", t, at)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return marshallable(t.Elem(), seen, path)
	case reflect.Map:
		switch k := t.Key(); {
		case writesItself(k), k.Kind() == reflect.String, reflect.Int <= k.Kind() && k.Kind() <= reflect.Uintptr:
		default:
			return fmt.Errorf("it cannot be marshalled: map with %s keys%s", k, at)
		}
		return marshallable(t.Elem(), seen, path)
	case reflect.Struct:
		for name, f := range jsonFields(t) {
			if err := marshallable(f.Type, seen, strings.TrimPrefix(path+"."+name, ".")); err != nil {
				return err
			}
		}
	}
	return nil
}

func writesItself(t reflect.Type) bool {
	for _, c := range []reflect.Type{t, reflect.PointerTo(t)} {
		if c.Implements(reflect.TypeFor[json.Marshaler]()) || c.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return true
		}
	}
	return false
}
