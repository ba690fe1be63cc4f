package modelwire

import (
	"net/http"
	"testing"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
)

// P23: a reader of a streamed turn drops the text of a dead
// attempt, or of an ask that is asked again in the same attempt, and gets the
// whole text once.
func TestP23_RestartedText(t *testing.T) {
	t.Parallel()
	const lost, first, rest = "It was ship", "It is ship", "ped."
	for _, c := range []struct {
		name    string
		dies    func(s *said)
		attempt int // the one that answers
	}{
		{"the connection is cut", func(*said) { panic(http.ErrAbortHandler) }, 2},
		{"the model is asked again", func(s *said) { s.finish("malformed_function_call") }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seen := map[string]chan struct{}{lost: make(chan struct{}), first: make(chan struct{}), first + rest: make(chan struct{})}
			b := benchAt(t, contract.Agent{}, func(s *said, asks int) {
				if asks == 1 {
					if s.text("It was "); s.text("ship") && s.await(seen[lost]) {
						c.dies(s)
					}
					return
				}
				if s.text(first) && s.await(seen[first]) && s.text(rest) && s.await(seen[first+rest]) {
					s.finish("stop")
				}
			})
			got := ""
			var kinds []turnkeel.EventKind
			for e, err := range start(t, b).Events(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				switch e.Kind {
				case turnkeel.EventText:
					got += e.Text
					if shown, waits := seen[got]; waits {
						close(shown)
					}
					continue
				case turnkeel.EventRestarted:
					if got != lost || e.Attempt != c.attempt {
						t.Errorf("restarted after %q in attempt %d", got, e.Attempt)
					}
					got = ""
				case turnkeel.EventAnswer:
					if e.Text != first+rest || e.Attempt != c.attempt {
						t.Errorf("answered %q in attempt %d", e.Text, e.Attempt)
					}
				case turnkeel.EventRetrying:
					continue // seen or not: the next attempt may have begun
				default:
				}
				kinds = append(kinds, e.Kind)
			}
			if got != first+rest {
				t.Errorf("the text that stands is %q", got)
			}
			want := []turnkeel.EventKind{turnkeel.EventStep, turnkeel.EventRestarted, turnkeel.EventAnswer, turnkeel.EventDone}
			if len(kinds) != len(want) {
				t.Fatalf("events %v, want %v", kinds, want)
			}
			for i := range want {
				if kinds[i] != want[i] {
					t.Errorf("events %v, want %v", kinds, want)
				}
			}
		})
	}
}
