package schema

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/xeipuuv/gojsonschema"
)

// Problem is one thing that is wrong with a value, in words for a model.
type Problem struct {
	Path   string // "customer.emails.0"; empty for the whole value
	Reason string
}

// String is "path: reason".
func (p Problem) String() string {
	if p.Path == "" {
		return p.Reason
	}
	return p.Path + ": " + p.Reason
}

// tidy sorts, removes repeats and bounds the list.
func tidy(list []Problem) []Problem {
	for i := range list {
		list[i].Path = cut(list[i].Path, maxPathBytes)
		list[i].Reason = cut(list[i].Reason, maxProblemBytes)
	}
	slices.SortFunc(list, func(a, b Problem) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Reason, b.Reason)
	})
	list = slices.Compact(list)
	if more := len(list) - maxProblems; more > 0 {
		list = append(list[:maxProblems], Problem{Reason: fmt.Sprintf("and %d more problems", more)})
	}
	return list
}

// translateErrors puts the validator's findings into our words. The findings
// that only say that another one exists are left out.
func translateErrors(found []gojsonschema.ResultError) []Problem {
	var out, vague []Problem
	for _, e := range found {
		p := Problem{Path: pathOf(e), Reason: reasonOf(e)}
		switch e.Type() {
		case "required", "additional_property_not_allowed", "invalid_property_name":
			p.Path = strings.TrimPrefix(p.Path+"."+detail(e, "property"), ".")
		case "number_all_of", "condition_then", "condition_else":
			vague = append(vague, p)
			continue
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		out = vague
	}
	return tidy(out)
}

func pathOf(e gojsonschema.ResultError) string {
	parts := strings.Split(e.Context().String("\x00"), "\x00")
	return joinPath(parts[1:])
}

func reasonOf(e gojsonschema.ResultError) string {
	d := func(k string) string { return detail(e, k) }
	switch e.Type() {
	case "required":
		return "is required"
	case "additional_property_not_allowed":
		return "is not a known property"
	case "invalid_property_name":
		return "is not an allowed property name"
	case "invalid_type":
		return "must be " + article(typeWords(d("expected"))) + ", not " + article(d("given"))
	case "enum":
		return "must be one of " + strings.ReplaceAll(d("allowed"), `","`, `", "`)
	case "const":
		return "must be " + d("allowed")
	case "number_gte":
		return "must be at least " + d("min")
	case "number_gt":
		return "must be more than " + d("min")
	case "number_lte":
		return "must be at most " + d("max")
	case "number_lt":
		return "must be less than " + d("max")
	case "multiple_of":
		return "must be a multiple of " + d("multiple")
	case "string_gte":
		return "must have at least " + d("min") + " characters"
	case "string_lte":
		return "must have at most " + d("max") + " characters"
	case "pattern":
		return "must match the pattern " + d("pattern")
	case "format":
		return "must be a valid " + d("format")
	}
	return structuralReason(e.Type(), d)
}

func structuralReason(kind string, d func(string) string) string {
	switch kind {
	case "array_min_items":
		return "must have at least " + d("min") + " items"
	case "array_max_items":
		return "must have at most " + d("max") + " items"
	case "array_min_properties":
		return "must have at least " + d("min") + " properties"
	case "array_max_properties":
		return "must have at most " + d("max") + " properties"
	case "array_no_additional_items":
		return "has too many items"
	case "unique":
		return "must not hold equal items (" + d("i") + " and " + d("j") + ")"
	case "contains":
		return "must hold at least one item of the wanted form"
	case "number_any_of":
		return "matches none of the allowed forms"
	case "number_one_of":
		return "must match exactly one of the allowed forms"
	case "number_not":
		return "has a form that is not allowed"
	case "missing_dependency":
		return "needs the property " + d("dependency") + " as well"
	case "false":
		return "is not allowed"
	case "number_all_of", "condition_then", "condition_else":
		return "does not have the wanted form"
	}
	return "is not valid"
}

func detail(e gojsonschema.ResultError, k string) string {
	switch v := e.Details()[k].(type) {
	case nil:
		return ""
	case *big.Float:
		if exp := v.MantExp(nil); exp > 70 || exp < -20 {
			return v.Text('g', -1)
		}
		return v.Text('f', -1)
	default:
		return fmt.Sprint(v)
	}
}

// typeWords turns "array/string" of the validator into "array or string".
func typeWords(s string) string {
	s = strings.Trim(s, "[]")
	return strings.NewReplacer("/", " or ", ",", " or ", "  ", " ").Replace(s)
}

func article(s string) string {
	switch {
	case s == "" || s == "null":
		return s
	case strings.ContainsRune("aeio", rune(s[0])):
		return "an " + s
	}
	return "a " + s
}
