package logging

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func TestNewWritesJSONWhenNotATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := New(&out, zapcore.InfoLevel)
	logger.Debug("hidden")
	logger.Info("shown", zap.Duration("after", time.Second))
	lines := parse(t, &out)
	if len(lines) != 1 || lines[0]["msg"] != "shown" || lines[0]["after"] != "1s" || lines[0]["level"] != "info" {
		t.Errorf("got %v", lines)
	}
	if caller, _ := lines[0]["caller"].(string); !strings.HasPrefix(caller, "logging/logging_test.go:") {
		t.Errorf("got caller %q", caller)
	}
}

func TestConsoleIsForPeople(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := zap.New(core(zapcore.NewConsoleEncoder(consoleFormat()), &out, zapcore.InfoLevel))
	logger.Info("worker started", zap.String("queue", "turnkeel"))
	if got := out.String(); !strings.Contains(got, "INFO  worker started  {\"queue\": \"turnkeel\"}\n") {
		t.Errorf("got %q", got)
	}
}

func TestTemporal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		emit func(log.Logger)
		want map[string]any
	}{
		{"pairs", func(l log.Logger) { l.Info("m", "Attempt", 2, "Error", errors.New("lost")) }, map[string]any{"level": "info", "msg": "m", "Attempt": 2.0, "Error": "lost"}},
		{"with", func(l log.Logger) { log.With(l, "RunID", "r1").Warn("m", "x", true) }, map[string]any{"level": "warn", "msg": "m", "RunID": "r1", "x": true}},
		{"unpaired", func(l log.Logger) { l.Error("m", "k", 1, "alone") }, map[string]any{"level": "error", "msg": "m", "k": 1.0, "unpaired": "alone"}},
		{"key is no text", func(l log.Logger) { l.Debug("m", 7, "x") }, map[string]any{"level": "debug", "msg": "m", "7": "x"}},
		{"skip", func(l log.Logger) { skipping(log.Skip(l, 1)) }, map[string]any{"level": "info", "msg": "m"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			tt.emit(Temporal(New(&out, zapcore.DebugLevel)))
			lines := parse(t, &out)
			if len(lines) != 1 {
				t.Fatalf("got %d lines", len(lines))
			}
			if caller, _ := lines[0]["caller"].(string); !strings.HasPrefix(caller, "logging/logging_test.go:") {
				t.Errorf("got caller %q, want the test", caller)
			}
			delete(lines[0], "caller")
			delete(lines[0], "time")
			if diff := cmp.Diff(tt.want, lines[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func skipping(l log.Logger) { l.Info("m") }

func TestTemporalSkipNamesTheCallersLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := Temporal(New(&out, zapcore.DebugLevel))
	skipping(l)
	skipping(log.Skip(l, 1))
	lines := parse(t, &out)
	if lines[0]["caller"] == lines[1]["caller"] {
		t.Errorf("both name %v", lines[0]["caller"])
	}
}

// TestSlog runs the standard library's conformance suite for handlers.
func TestSlog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	handler := Slog(New(&out, zapcore.DebugLevel)).Handler()
	err := slogtest.TestHandler(handler, func() []map[string]any {
		var records []map[string]any
		for _, line := range parse(t, &out) {
			delete(line, "caller")
			records = append(records, line)
		}
		return records
	})
	// zap writes a zero time where slog would leave it out.
	for _, problem := range unjoin(err) {
		if !strings.Contains(problem.Error(), "time") {
			t.Error(problem)
		}
	}
}

func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

func TestSlogLevels(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := Slog(New(&out, zapcore.WarnLevel))
	logger.Info("hidden")
	logger.Warn("w")
	logger.Error("e", slog.Group("g", "k", 1))
	lines := parse(t, &out)
	if len(lines) != 2 || lines[0]["level"] != "warn" || lines[1]["level"] != "error" {
		t.Fatalf("got %v", lines)
	}
	want := []string{"caller", "g", "level", "msg", "time"}
	if got := slices.Sorted(maps.Keys(lines[1])); !slices.Equal(got, want) {
		t.Errorf("got keys %v, want %v", got, want)
	}
}

func parse(t *testing.T, out *bytes.Buffer) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines = append(lines, m)
	}
	return lines
}
