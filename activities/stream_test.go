package activities

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/turnkeel/turnkeel/contract"
)

// A heartbeat's size stays flat however much is said, and a reader that keeps
// the offsets has every byte in order.
func TestStream_WindowIsFlatAndJoins(t *testing.T) {
	t.Parallel()
	s := &stream{}
	var said, read strings.Builder
	for i := range 4_000 {
		word := strings.Repeat("ä", i%7) + " "
		said.WriteString(word)
		s.say(word)
		if i%50 != 0 {
			continue
		}
		f, _ := s.take(1)
		if len(f.Text) > contract.MaxFrameText || !utf8.ValidString(f.Text) {
			t.Fatalf("window of %d bytes", len(f.Text))
		}
		read.WriteString(f.Text[read.Len()-f.Offset:])
	}
	if f, _ := s.take(1); read.String()+f.Text[read.Len()-f.Offset:] != said.String() {
		t.Error("what was read is not what was said")
	}
	if _, news := s.take(1); news {
		t.Error("nothing was said since, and it is news")
	}
}

func TestStream_ProgressIsBounded(t *testing.T) {
	t.Parallel()
	s := &stream{}
	big, _ := json.Marshal(strings.Repeat("x", 100_000))
	s.show(big)
	f, news := s.take(3)
	if !news || f.Seq != 1 || f.Attempt != 3 || string(f.Progress) != `{"progress_bytes":100002}` {
		t.Errorf("%+v", f)
	}
}

// T43: the last progress leaves the heartbeat once every reader has had the
// time to see it; its number stays, so that the next one is news.
func TestT43_ProgressLeavesTheHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stream{}
		s.show(json.RawMessage(`"half"`))
		for i, want := range []struct {
			after    time.Duration
			progress string
			news     bool
		}{{0, `"half"`, true}, {progressShown - time.Millisecond, `"half"`, false}, {time.Millisecond, "", true}, {time.Hour, "", false}} {
			time.Sleep(want.after) // of the bubble's clock
			if f, news := s.take(1); string(f.Progress) != want.progress || news != want.news || f.Seq != 1 {
				t.Errorf("look %d: %+v, news %v", i, f, news)
			}
		}
		s.show(json.RawMessage(`"done"`))
		if f, news := s.take(1); string(f.Progress) != `"done"` || !news || f.Seq != 2 {
			t.Errorf("%+v, news %v", f, news)
		}
	})
}
