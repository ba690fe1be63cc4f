package tooldefs

import (
	"reflect"

	"github.com/turnkeel/turnkeel/internal/schema"
)

// Output says whether and how results are validated. The zero value does not
// validate; see [InferOutput] and [OutputSchema].
type Output struct {
	infer bool
	raw   string
}

// InferOutput validates results against the schema of the output type.
func InferOutput() Output { return Output{infer: true} }

// OutputSchema validates results against a JSON Schema.
func OutputSchema(json string) Output { return Output{raw: json} }

func (o Output) compile(t reflect.Type) (*schema.Schema, []string, error) {
	raw := []byte(o.raw)
	if o.infer {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		var err error
		if raw, err = infer(t); err != nil {
			return nil, nil, err
		}
	}
	if len(raw) == 0 {
		return nil, nil, nil
	}
	return schema.Compile(raw)
}
