package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A session's model says each message backwards, so that no two answers are
// alike.
func TestTalk(t *testing.T) {
	t.Parallel()
	words := rand.New(rand.NewPCG(1, 2))
	text := talk(words)
	if text == talk(words) || len(strings.Fields(text)) != sessionWords || answerTo(answerTo(text)) != text {
		t.Errorf("%q, %q", text, answerTo(text))
	}
	model := talkModel()
	defer model.Close()
	request, err := json.Marshal(map[string]any{"messages": []map[string]string{{"content": "old"}, {"content": text}}})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(model.URL, "application/json", bytes.NewReader(request)) //nolint:noctx // a server of this process
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if said, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(said), answerTo(text)) {
		t.Errorf("%s, %v", said, err)
	}
}

func TestAround(t *testing.T) {
	t.Parallel()
	var ms []float64
	for i := range 100 {
		ms = append(ms, float64(i+1))
	}
	for _, c := range []struct {
		turn        int
		first, last float64
	}{{1, 1, 20}, {10, 1, 20}, {21, 2, 21}, {100, 81, 100}} {
		if got := around(ms, c.turn); got[0] != c.first || got[len(got)-1] != c.last {
			t.Errorf("turn %d: %v to %v, want %v to %v", c.turn, got[0], got[len(got)-1], c.first, c.last)
		}
	}
	if got := around(ms[:5], 1); len(got) != 5 {
		t.Errorf("of five turns: %v", got)
	}
}

// A word that comes in two pieces is seen when it is whole, and the first time
// counts.
func TestFollow(t *testing.T) {
	t.Parallel()
	m := &chunkModel{shown: map[int]time.Time{}}
	terminal, program := io.Pipe()
	go func() {
		for _, piece := range []string{"w0000. w00", "01.", " w0000.", " w00021"} {
			_, _ = program.Write([]byte(piece))
		}
		_ = program.Close()
	}()
	said := m.follow(terminal)
	var seen []int
	for i := range streamChunks {
		if !m.shown[i].IsZero() {
			seen = append(seen, i)
		}
	}
	if diff := cmp.Diff([]int{0, 1}, seen); diff != "" || said != "w0000. w0001. w0000. w00021" {
		t.Errorf("%q: %s", said, diff)
	}
	if !m.shown[0].Before(m.shown[1]) {
		t.Error("the later sight counts")
	}
	if err := m.take(said); err == nil {
		t.Error("words that never came are no error")
	}
}
