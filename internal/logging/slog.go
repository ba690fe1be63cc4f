package logging

import (
	"context"
	"log/slog"
	"runtime"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Slog is l as a log/slog logger.
func Slog(l *zap.Logger) *slog.Logger { return slog.New(slogHandler{core: l.Core()}) }

// slogHandler hands records to a zap core. Groups wait until an attribute
// follows, because slog leaves out empty ones.
type slogHandler struct {
	core   zapcore.Core
	groups []string
}

func (h slogHandler) Enabled(_ context.Context, level slog.Level) bool {
	return h.core.Enabled(zapLevel(level))
}

func (h slogHandler) Handle(_ context.Context, r slog.Record) error {
	entry := zapcore.Entry{Level: zapLevel(r.Level), Time: r.Time, Message: r.Message}
	if r.PC != 0 {
		frame, _ := runtime.CallersFrames([]uintptr{r.PC}).Next()
		entry.Caller = zapcore.NewEntryCaller(frame.PC, frame.File, frame.Line, true)
		entry.Caller.Function = frame.Function
	}
	attrs := make([]slog.Attr, 0, r.NumAttrs())
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	if checked := h.core.Check(entry, nil); checked != nil {
		checked.Write(h.fields(attrs)...)
	}
	return nil
}

func (h slogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	fields := h.fields(attrs)
	if len(fields) == 0 {
		return h
	}
	return slogHandler{core: h.core.With(fields)}
}

func (h slogHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return slogHandler{core: h.core, groups: append(slices.Clone(h.groups), name)}
}

// fields is the attributes inside the groups that wait; none when there is no
// attribute.
func (h slogHandler) fields(attrs []slog.Attr) []zap.Field {
	inner := attrFields(attrs)
	if len(inner) == 0 {
		return nil
	}
	fields := make([]zap.Field, 0, len(h.groups)+len(inner))
	for _, g := range h.groups {
		fields = append(fields, zap.Namespace(g))
	}
	return append(fields, inner...)
}

func attrFields(attrs []slog.Attr) []zap.Field {
	var fields []zap.Field
	for _, a := range attrs {
		value := a.Value.Resolve()
		switch {
		case a.Equal(slog.Attr{}):
		case value.Kind() != slog.KindGroup:
			fields = append(fields, zap.Any(a.Key, value.Any()))
		case a.Key == "":
			fields = append(fields, attrFields(value.Group())...)
		default:
			if inner := attrFields(value.Group()); len(inner) > 0 {
				fields = append(fields, zap.Dict(a.Key, inner...))
			}
		}
	}
	return fields
}

func zapLevel(level slog.Level) zapcore.Level {
	switch {
	case level >= slog.LevelError:
		return zapcore.ErrorLevel
	case level >= slog.LevelWarn:
		return zapcore.WarnLevel
	case level >= slog.LevelInfo:
		return zapcore.InfoLevel
	}
	return zapcore.DebugLevel
}
