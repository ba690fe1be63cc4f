package tooldefs

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/turnkeel/turnkeel/internal/schema"
)

// inferInput infers the schema of a handler's input.
func inferInput(t reflect.Type) (*schema.Schema, []string, error) {
	base := t
	for base.Kind() == reflect.Pointer {
		base = base.Elem()
	}
	if base.Kind() != reflect.Struct && (base.Kind() != reflect.Map || base.Key().Kind() != reflect.String) {
		return nil, nil, errors.New("it must be a struct, or a map with string keys")
	}
	raw, err := infer(base)
	if err != nil {
		return nil, nil, err
	}
	compiled, warnings, err := schema.CompileInput(raw)
	if err != nil {
		return nil, nil, err
	}
	if len(warnings) > 0 { // in one's own code these are mistakes
		return nil, nil, errors.New(warnings[0])
	}
	return compiled, nil, nil
}

// infer reflects a type. Types that do not contain themselves are written
// out in one piece, which models and providers read best.
func infer(t reflect.Type) (raw []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			raw, err = nil, fmt.Errorf("it has no schema: %v", r)
		}
	}()
	if endless(t, nil, map[reflect.Type]bool{}) {
		return nil, errors.New("it has no schema: it contains itself without a struct between")
	}
	recursive := containsItself(t, nil)
	r := jsonschema.Reflector{
		Anonymous:      true,
		DoNotReference: !recursive,
		Mapper:         mapType,
		Namer:          uniqueName,
	}
	text, err := json.Marshal(r.ReflectFromType(t))
	if err != nil {
		return nil, err
	}
	tree, err := schema.Parse(text)
	if err != nil {
		return nil, err
	}
	root, ok := tree.(map[string]any)
	if !ok {
		root = map[string]any{}
	}
	delete(root, "$schema")
	root = expandRoot(root)
	if err := checkTags(t, root, root, ""); err != nil {
		return nil, err
	}
	relaxDefaults(root)
	return json.Marshal(root)
}

// expandRoot puts the definition of the root type at the root, where
// providers want "type": "object".
func expandRoot(root map[string]any) map[string]any {
	ref, _ := root["$ref"].(string)
	if ref == "" {
		return root
	}
	out := map[string]any{"$defs": root["$defs"]}
	for k, v := range follow(root, root) {
		out[k] = v
	}
	return out
}

// follow resolves a $ref of the reflector's own form.
func follow(root, node map[string]any) map[string]any {
	ref, ok := node["$ref"].(string)
	if !ok || len(ref) < len("#/$defs/") {
		return node
	}
	defs, _ := root["$defs"].(map[string]any)
	found, _ := defs[ref[len("#/$defs/"):]].(map[string]any)
	return found
}

// relaxDefaults makes properties with a default optional, at any depth.
func relaxDefaults(node any) {
	switch v := node.(type) {
	case []any:
		for _, e := range v {
			relaxDefaults(e)
		}
	case map[string]any:
		props, _ := v["properties"].(map[string]any)
		if required, ok := v["required"].([]any); ok {
			kept := []any{}
			for _, name := range required {
				text, _ := name.(string)
				prop, _ := props[text].(map[string]any)
				if _, has := prop["default"]; !has {
					kept = append(kept, name)
				}
			}
			if v["required"] = kept; len(kept) == 0 {
				delete(v, "required")
			}
		}
		for k, e := range v {
			if k != "default" && k != "enum" && k != "examples" {
				relaxDefaults(e)
			}
		}
	}
}

// mapType gives the schemas that the reflector would get wrong.
func mapType(t reflect.Type) *jsonschema.Schema {
	p := reflect.PointerTo(t)
	if hasOwnSchema(p) || hasOwnSchema(t) {
		return nil
	}
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[json.RawMessage]():
		return nil
	case reflect.TypeFor[json.Number]():
		return &jsonschema.Schema{Type: "number"}
	case reflect.TypeFor[big.Int]():
		return &jsonschema.Schema{Type: "integer"}
	case reflect.TypeFor[url.URL]():
		panic("url.URL does not decode from a JSON string; use a string")
	}
	if p.Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return &jsonschema.Schema{}
	}
	if p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

func hasOwnSchema(t reflect.Type) bool {
	for _, m := range []string{"JSONSchema", "JSONSchemaAlias"} {
		if _, ok := t.MethodByName(m); ok {
			return true
		}
	}
	return false
}

// uniqueName keeps types of the same name in different packages apart.
func uniqueName(t reflect.Type) string {
	if t.Name() == "" || t.PkgPath() == "" {
		return t.Name()
	}
	sum := sha256.Sum256([]byte(t.PkgPath() + "." + t.Name()))
	name := make([]rune, 0, len(t.Name()))
	for _, r := range t.Name() {
		if r == '[' {
			break
		}
		name = append(name, r)
	}
	return string(name) + "_" + hex.EncodeToString(sum[:4])
}

// containsItself says whether a type is recursive.
func containsItself(t reflect.Type, open []reflect.Type) bool {
	for _, o := range open {
		if o == t {
			return true
		}
	}
	if t.Kind() == reflect.Struct && decodesItself(t) {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return containsItself(t.Elem(), append(open, t))
	case reflect.Struct:
		for i := range t.NumField() {
			if containsItself(t.Field(i).Type, append(open, t)) {
				return true
			}
		}
	}
	return false
}

// endless says whether a type contains itself through slices, maps and pointers
// alone, which the reflector would follow for ever.
func endless(t reflect.Type, open []reflect.Type, structs map[reflect.Type]bool) bool {
	if decodesItself(t) || structs[t] || hasOwnSchema(t) || hasOwnSchema(reflect.PointerTo(t)) {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return slices.Contains(open, t) || endless(t.Elem(), append(open, t), structs)
	case reflect.Struct:
		structs[t] = true
		for i := range t.NumField() {
			if endless(t.Field(i).Type, nil, structs) {
				return true
			}
		}
	}
	return false
}
