package agenttest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel/agenttest"
)

// told keeps what a helper says of a test.
type told struct {
	testing.TB
	said string
}

func (t *told) Errorf(format string, args ...any) { t.said += fmt.Sprintf(format, args...) }

// R07: a history that does not replay fails the test, with the place and what
// can be done; one that replays says nothing.
func TestReplay_Says(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../tests/replay/testdata/serial.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ from, to, want string }{
		{"", "", ""},
		{`"tool.note"`, `"tool.other"`, "activity s1.c1, tool.other"},
		{`"tool.note"`, `"tool.other"`, "GetVersion"},
		{`"turnkeel.Turn"`, `"shop.Order"`, "not_ours"},
	} {
		changed := string(text)
		if tt.from != "" {
			changed = strings.ReplaceAll(changed, tt.from, tt.to)
		}
		h, err := client.HistoryFromJSON(strings.NewReader(changed), client.HistoryJSONOptions{})
		if err != nil {
			t.Fatal(err)
		}
		test := &told{TB: t}
		agenttest.Replay(test, h)
		if !strings.Contains(test.said, tt.want) || (tt.want == "") != (test.said == "") {
			t.Errorf("%s to %s: %q, want %q", tt.from, tt.to, test.said, tt.want)
		}
	}
}
