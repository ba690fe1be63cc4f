package secrets_test

import (
	"testing"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/secrets"
)

// R12: a value of eight bytes or more is found wherever a message holds it.
func TestFind(t *testing.T) {
	t.Parallel()
	env := map[string]string{"EIGHT": "12345678", "SEVEN": "abcdefg", "EMPTY": "", "LINE": "swordfish\n", "BLANK": "          "}
	variables := []string{"EMPTY", "SEVEN", "UNSET", "BLANK", "EIGHT", "LINE"}
	for _, tt := range []struct {
		name string
		in   contract.Message
		want string
	}{
		{"alone", contract.Message{Content: "12345678"}, "EIGHT"},
		{"inside", contract.Message{Content: "my key: x12345678y."}, "EIGHT"},
		{"reasoning", contract.Message{Reasoning: "12345678"}, "EIGHT"},
		{"extra", contract.Message{Extra: `{"a":"12345678"}`}, "EIGHT"},
		{"call", contract.Message{ToolCalls: []contract.ToolCall{{}, {Args: `{"k":"12345678"}`}}}, "EIGHT"},
		{"call's extra", contract.Message{ToolCalls: []contract.ToolCall{{Extra: "12345678"}}}, "EIGHT"},
		{"without its line end", contract.Message{Content: "it is swordfish, I think          "}, "LINE"},
		{"too short", contract.Message{Content: "abcdefg"}, ""},
		{"a part", contract.Message{Content: "1234567 8"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, found := secrets.Find(variables, func(name string) string { return env[name] }, nil, []contract.Message{{}, tt.in})
			if got != tt.want || found != (tt.want != "") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
