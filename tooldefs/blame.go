package tooldefs

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"

	"github.com/turnkeel/turnkeel/internal/schema"
)

// blame is the path to the part of a value that does not decode into its part of
// the type; empty when it cannot be told. It is only asked when something does
// not: types that decode themselves do not say where they stand.
func (x exactness) blame(t reflect.Type, v any, path string) string {
	base := x.base(t)
	switch v := v.(type) {
	case map[string]any:
		if x[base].itself || base.Kind() != reflect.Struct && base.Kind() != reflect.Map {
			break
		}
		for _, k := range sortedKeys(v) {
			var inner reflect.Type
			if base.Kind() == reflect.Map {
				inner = base.Elem()
			} else if f, ok := x[base].fields[k]; ok {
				inner = f.Type
			} else {
				continue
			}
			if at := x.blame(inner, v[k], join(path, k)); at != "" {
				return at
			}
		}
		return ""
	case []any:
		if x[base].itself || base.Kind() != reflect.Slice && base.Kind() != reflect.Array {
			break
		}
		for i, e := range v {
			if at := x.blame(base.Elem(), e, join(path, strconv.Itoa(i))); at != "" {
				return at
			}
		}
		return ""
	}
	text, err := schema.Write(v)
	if err == nil && json.Unmarshal(text, reflect.New(t).Interface()) != nil {
		return path
	}
	return ""
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func join(path, part string) string {
	if path == "" {
		return part
	}
	return path + "." + part
}
