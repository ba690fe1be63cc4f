package schema

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// maxInPlace bounds how often schemas apply to one and the same value.
const maxInPlace = 1_000

// reference resolves a $ref inside the document. What points outside is
// refused before anything could fetch it, and the error does not repeat it.
func (n *node) reference(v any) error {
	text, ok := v.(string)
	if !ok {
		return errors.New("$ref must be a string")
	}
	if text != "#" && !strings.HasPrefix(text, "#/") {
		if strings.HasPrefix(text, "#") {
			return errors.New("a $ref to a named anchor is not supported")
		}
		return errors.New("a $ref outside of the schema is not allowed")
	}
	t := n.t
	t.hasRef = true
	d, known := t.targets[text]
	if !known {
		raw, err := resolve(t.root, text)
		if err != nil {
			return err
		}
		d = &target{name: "r" + strconv.Itoa(len(t.targets)), raw: raw, shape: &shape{}}
		t.targets[text] = d
		t.pending = append(t.pending, d)
	}
	n.shape.all = append(n.shape.all, d.shape)
	n.also = append(n.also, map[string]any{"$ref": "#/definitions/" + d.name})
	return nil
}

// resolve follows a JSON pointer in a URI fragment.
func resolve(root any, ref string) (any, error) {
	bad := fmt.Errorf("the $ref %q points to nothing", cut(ref, 100))
	pointer, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil {
		return nil, bad
	}
	at := root
	for _, part := range strings.Split(pointer, "/")[1:] {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[part]
			if !ok {
				return nil, bad
			}
			at = next
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return nil, bad
			}
			at = v[i]
		default:
			return nil, bad
		}
	}
	return at, nil
}

// checkInPlace refuses a loop that consumes no instance level, on which the
// validator would overflow its stack, and in-place trees that multiply.
func checkInPlace(shapes []*shape) error {
	const open = -1
	cost := make(map[*shape]int, len(shapes))
	var visit func(*shape) error
	visit = func(s *shape) error {
		switch c := cost[s]; {
		case c == open:
			return errors.New("a $ref leads back to itself without going through a property or an item")
		case c > 0:
			return nil
		}
		cost[s] = open
		sum := 1
		for _, n := range s.inPlace() {
			if err := visit(n); err != nil {
				return err
			}
			if sum += cost[n]; sum > maxInPlace {
				return errors.New("the schema combines too many alternatives")
			}
		}
		cost[s] = sum
		return nil
	}
	for _, s := range shapes {
		if err := visit(s); err != nil {
			return err
		}
	}
	return nil
}
