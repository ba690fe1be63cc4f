package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// object translates the keywords about objects.
func (n *node) object(k string, v any) error {
	switch k {
	case "properties":
		shapes, docs, err := n.table(k, v)
		if err != nil {
			return err
		}
		n.shape.props, n.doc[k] = shapes, docs
		n.shape.folded = make(map[string]string, len(shapes))
		for name := range shapes {
			n.shape.folded[foldKey(name)] = name
		}
	case "patternProperties":
		return n.patternProperties(v)
	case "additionalProperties":
		s, doc, err := n.sub(k, v)
		if err != nil {
			return err
		}
		n.shape.extra, n.doc[k] = s, doc
	case "propertyNames":
		s, doc, err := n.sub(k, v)
		if err != nil {
			return err
		}
		n.shape.names, n.doc[k] = s, doc
	case "unevaluatedProperties":
		return n.unevaluated(v)
	case "dependentRequired":
		return n.dependencies(k, v, true, false)
	case "dependentSchemas":
		return n.dependencies(k, v, false, true)
	case "dependencies":
		return n.dependencies(k, v, true, true)
	}
	return nil
}

func (n *node) patternProperties(v any) error {
	shapes, docs, err := n.table("patternProperties", v)
	if err != nil {
		return err
	}
	if len(shapes) > maxNamePatterns {
		return fmt.Errorf("more than %d patternProperties are not supported", maxNamePatterns)
	}
	for _, text := range slices.Sorted(maps.Keys(shapes)) {
		re, insts, err := compilePattern(text)
		if err != nil {
			return err
		}
		n.shape.patterns = append(n.shape.patterns, namePattern{re, insts, shapes[text]})
	}
	n.doc["patternProperties"] = docs
	return nil
}

// unevaluated handles unevaluatedProperties where it means the same as
// additionalProperties, and refuses it where it would be ignored.
func (n *node) unevaluated(v any) error {
	if isTrue(v) {
		return nil
	}
	for _, k := range []string{"$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "additionalProperties"} {
		if _, has := n.raw[k]; has {
			return fmt.Errorf("unevaluatedProperties beside %s is not supported", k)
		}
	}
	return n.object("additionalProperties", v)
}

func isTrue(v any) bool {
	m, ok := v.(map[string]any)
	return v == any(true) || ok && len(m) == 0
}

// dependencies translates the old keyword and the two that replaced it.
func (n *node) dependencies(k string, v any, lists, schemas bool) error {
	raw, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s must be an object", k)
	}
	docs := make(map[string]any, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if names, isList := stringsOf(raw[name]); isList && lists {
			slices.Sort(names)
			names = slices.Compact(names)
			n.shape.depends = append(n.shape.depends, dependency{name, names})
			docs[name] = anys(names)
			continue
		}
		if !schemas {
			return fmt.Errorf("%s must hold lists of strings", k)
		}
		s, doc, err := n.t.schema(raw[name], n.at.child(k).child(name), n.depth+1)
		if err != nil {
			return err
		}
		if b, flag := doc.(bool); flag { // the validator wants an object here
			doc = map[string]any{}
			if !b {
				doc = map[string]any{"not": map[string]any{}}
			}
		}
		n.shape.maybe, docs[name] = append(n.shape.maybe, s), doc
	}
	if len(docs) > 0 {
		n.also = append(n.also, map[string]any{"dependencies": docs})
	}
	return nil
}

// array translates the keywords about arrays.
func (n *node) array(k string, v any) error {
	_, hasPrefix := n.raw["prefixItems"]
	switch k {
	case "prefixItems":
		return n.tuple(k, v)
	case "items":
		if _, isList := v.([]any); isList && !hasPrefix {
			return n.tuple(k, v)
		}
		if hasPrefix {
			return n.rest(v)
		}
		s, doc, err := n.sub(k, v)
		if err != nil {
			return err
		}
		n.shape.items, n.doc["items"] = s, doc
	case "additionalItems":
		if _, isList := n.raw["items"].([]any); isList && !hasPrefix {
			return n.rest(v)
		}
	case "contains":
		if least, ok := n.raw["minContains"].(json.Number); ok {
			if zero, _ := integral(least); zero == "0" {
				return nil
			}
		}
		s, doc, err := n.sub(k, v)
		if err != nil {
			return err
		}
		n.shape.contains, n.doc[k] = s, doc
	case "minContains":
		if num, ok := integer(v); !ok || num != "0" && num != "1" {
			return errors.New("minContains above 1 is not supported")
		}
	case "maxContains":
		return errors.New("maxContains is not supported")
	case "unevaluatedItems":
		if !isTrue(v) {
			return errors.New("unevaluatedItems is not supported")
		}
	}
	return nil
}

func (n *node) tuple(k string, v any) error {
	shapes, docs, err := n.list(k, v)
	if err != nil {
		return err
	}
	n.shape.tuple, n.doc["items"] = shapes, docs
	return nil
}

// rest is what stands beyond a tuple.
func (n *node) rest(v any) error {
	s, doc, err := n.sub("items", v)
	if err != nil {
		return err
	}
	n.shape.items, n.doc["additionalItems"] = s, doc
	return nil
}
