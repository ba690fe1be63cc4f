package mask

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// Handler is h with the values taken out of every message and attribute.
func (m Mask) Handler(h slog.Handler) slog.Handler {
	if m.Empty() {
		return h
	}
	return handler{h, m}
}

type handler struct {
	slog.Handler
	mask Mask
}

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	masked := slog.NewRecord(r.Time, r.Level, h.mask.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		masked.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, masked)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = h.attr(a)
	}
	return handler{h.Handler.WithAttrs(masked), h.mask}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.mask}
}

// attr leaves a value that holds no secret as it is, and writes out one that
// does.
func (h handler) attr(a slog.Attr) slog.Attr {
	a.Key = h.mask.Text(a.Key)
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindGroup:
		var inner []slog.Attr
		for _, part := range a.Value.Group() {
			inner = append(inner, h.attr(part))
		}
		a.Value = slog.GroupValue(inner...)
	case slog.KindString:
		a.Value = slog.StringValue(h.mask.Text(a.Value.String()))
	case slog.KindAny:
		a.Value = h.anyValue(a.Value)
	}
	return a
}

// anyValue looks at a value in the two ways in which a log may write it.
func (h handler) anyValue(v slog.Value) slog.Value {
	text := fmt.Sprintf("%+v", v.Any())
	if masked := h.mask.Text(text); masked != text {
		return slog.StringValue(masked)
	}
	if data, err := json.Marshal(v.Any()); err == nil {
		if masked := h.mask.JSON(data); string(masked) != string(data) {
			return slog.StringValue(string(masked))
		}
	}
	return v
}
