package workflows

import (
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/turnkeel/turnkeel/contract"
)

// Value is what a tool returned to code that called it.
type Value struct{ contract.ToolResult }

// Get reads the value into out, a pointer: a tool's string into a *string or,
// when it holds JSON, into what fits it; any other value into what fits it.
// Every digit of a number reaches an integer field.
func (v Value) Get(out any) error {
	data := []byte(v.JSON)
	if len(data) == 0 {
		if text, ok := out.(*string); ok {
			*text = v.Text
			return nil
		}
		data = []byte(v.Text)
	}
	return converter.GetDefaultDataConverter().FromPayload(&commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)},
		Data:     data,
	}, out)
}
