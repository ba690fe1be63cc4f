// Package logging makes the one logger of a process and its adapters for the
// Temporal SDK and log/slog. It is worker-side; start at [New].
package logging

import (
	"io"
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/term"
)

// New logs to w from level up: lines for people when w is a terminal, one JSON
// object a line otherwise. Writes are serialised. The caller calls Sync before
// it ends. [zapcore.ParseLevel] reads a level from a flag.
func New(w io.Writer, level zapcore.LevelEnabler) *zap.Logger {
	return NewMasked(w, level, func(line []byte) []byte { return line })
}

// NewMasked is [New], with each line as masked makes it: nothing of a line is
// written otherwise. masked gets a whole line, and may be called concurrently.
func NewMasked(w io.Writer, level zapcore.LevelEnabler, masked func(line []byte) []byte) *zap.Logger {
	lines := lineWriter{w, masked}
	if isTerminal(w) {
		return zap.New(core(zapcore.NewConsoleEncoder(consoleFormat()), lines, level))
	}
	return zap.New(core(zapcore.NewJSONEncoder(jsonFormat()), lines, level), zap.AddCaller())
}

// lineWriter writes what masked makes of each line.
type lineWriter struct {
	w      io.Writer
	masked func(line []byte) []byte
}

// Write takes a line in. What it writes may have another length, of which a
// caller need not know.
func (l lineWriter) Write(line []byte) (int, error) {
	if _, err := l.w.Write(l.masked(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

func core(encoder zapcore.Encoder, w io.Writer, level zapcore.LevelEnabler) zapcore.Core {
	return zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level)
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func consoleFormat() zapcore.EncoderConfig {
	c := zap.NewDevelopmentEncoderConfig()
	c.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
	c.CallerKey = zapcore.OmitKey
	c.ConsoleSeparator = "  "
	return c
}

func jsonFormat() zapcore.EncoderConfig {
	c := zap.NewProductionEncoderConfig()
	c.TimeKey, c.EncodeTime = "time", zapcore.RFC3339NanoTimeEncoder
	c.EncodeDuration = zapcore.StringDurationEncoder
	return c
}
