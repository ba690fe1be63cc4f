package scripted

import (
	"strings"
	"testing"
)

// Y01: a script that is all structure is refused before it is parsed, which would
// take all of the machine's memory.
func TestReadRefusesTooMuchStructure(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		strings.Repeat("[", 1<<20):                                      "nested more than 64 deep",
		"steps: [{text: " + strings.Repeat("[", 1<<20):                  "nested more than 64 deep",
		"steps:\n- " + strings.Repeat("{a: ", 1<<18):                    "nested more than 64 deep",
		"steps:\n" + strings.Repeat("- {text: x}\n", 1<<16):             "too much for one file from here on",
		"steps:\n- text: hi\n" + strings.Repeat("- text: hi\n", 40_000): "too much for one file from here on",
	} {
		if _, problems := Read([]byte(in)); len(problems) != 1 || !strings.HasPrefix(problems[0].Text, want) || problems[0].Line == 0 {
			t.Errorf("%.30q: got %v", in, problems)
		}
	}
	if _, problems := Read([]byte("steps:\n" + strings.Repeat("- text: hi\n", 1_000))); problems != nil {
		t.Errorf("got %v", problems)
	}
}
