package fold_test

import (
	"encoding/json"
	"testing"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// C12, R02: what the model reads of a JSON value is the value, to the byte, with
// < > & as they are: the data converter's escapes are undone, the value's own
// backslashes are not touched.
func TestResultText_UndoesTheConverter(t *testing.T) {
	t.Parallel()
	for _, plain := range []string{
		`null`, `-1.50e+400`, `9007199254740993`, `"<>&"`, `{"<b>":["&","\n","\\"]}`,
		`"\\u003c"`, `"\\\\u003c"`, `"\\<"`, `"\\\\<"`, `"\"<\""`, `"\ud83d\u0041"`, `""`, `"ends \\"`, `"é \u2028 🙂"`,
	} {
		recorded, err := json.Marshal(contract.ToolResult{JSON: json.RawMessage(plain)})
		if err != nil {
			t.Fatal(plain, err)
		}
		var result contract.ToolResult
		if err := json.Unmarshal(recorded, &result); err != nil {
			t.Fatal(err)
		}
		if got := fold.ResultText(result); got != plain {
			t.Errorf("%s\nreads %s", plain, got)
		}
	}
}

// FuzzResultText: the text stands for the value that was recorded, whatever it
// is, and nothing that could be plain is escaped.
func FuzzResultText(f *testing.F) {
	f.Add([]byte(`{"a":"\\u003c<"}`))
	f.Add([]byte(`"\\`))
	f.Fuzz(func(t *testing.T, data []byte) {
		text := fold.ResultText(contract.ToolResult{JSON: data})
		var want, got any
		if json.Unmarshal(data, &want) != nil {
			return
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%q reads %q: %v", data, text, err)
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if string(a) != string(b) {
			t.Errorf("%q reads %q", data, text)
		}
	})
}
