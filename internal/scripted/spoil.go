package scripted

import (
	"context"
	"net/http"
	"strings"
)

// serve answers with the step, spoiled by a fault; the zero fault spoils
// nothing.
func (a answer) serve(ctx context.Context, w http.ResponseWriter, f StepFailure) {
	if wait(ctx, a.step.Delay+f.Delay) != nil {
		return
	}
	if f.Hang && f.Cut == 0 && f.CutBytes == 0 && len(f.Frames) == 0 {
		<-ctx.Done()
		panic(http.ErrAbortHandler)
	}
	out := &spoiled{ResponseWriter: w, ctx: ctx, fault: f, left: f.CutBytes}
	switch {
	case f.Status != 0 || f.Body != "":
		refuse(out, f)
	case len(f.Frames) > 0:
		a.stream(out, f.Frames)
	case a.step.Body != "":
		refuse(out, StepFailure{Status: http.StatusOK, Headers: a.step.Headers, Body: a.step.Body})
	case len(a.step.Frames) > 0:
		a.stream(out, a.step.Frames)
	case !a.request.Stream:
		a.headers(w)
		writeJSON(out, http.StatusOK, a.whole())
	default:
		frames, err := a.frames()
		if err != nil {
			return
		}
		a.stream(out, frames)
	}
}

func (a answer) headers(w http.ResponseWriter) {
	for name, value := range a.step.Headers {
		w.Header().Set(name, value)
	}
}

// stream sends frames, up to the fault's cut.
func (a answer) stream(out *spoiled, frames []string) {
	f := out.fault
	out.Header().Set("Content-Type", "text/event-stream")
	out.Header().Set("Cache-Control", "no-cache")
	a.headers(out)
	for name, value := range f.Headers {
		out.Header().Set(name, value)
	}
	for i, frame := range frames {
		if f.Cut > 0 && i >= f.Cut {
			out.end()
			return
		}
		if i > 0 && wait(out.ctx, a.step.ChunkDelay+f.ChunkDelay) != nil {
			return
		}
		if strings.HasPrefix(frame, "{") || strings.HasPrefix(frame, "[") {
			frame = "data: " + frame
		}
		if _, err := out.Write([]byte(frame + "\n\n")); err != nil || out.over {
			return
		}
		_ = http.NewResponseController(out.ResponseWriter).Flush()
	}
	if f.Hang || f.Cut > 0 {
		out.end()
	}
}

// spoiled cuts a body where its fault says.
type spoiled struct {
	http.ResponseWriter
	ctx   context.Context
	fault StepFailure
	left  int // bytes until the cut, where there is one
	over  bool
}

// Write writes what comes before the cut.
func (s *spoiled) Write(p []byte) (int, error) {
	switch {
	case s.over:
		return len(p), nil
	case s.fault.CutBytes == 0 || len(p) < s.left:
		s.left -= len(p)
		return s.ResponseWriter.Write(p)
	}
	_, err := s.ResponseWriter.Write(p[:s.left])
	s.end()
	return len(p), err
}

// end ends the answer in the fault's way. Unless that is a clean end, it does
// not return.
func (s *spoiled) end() {
	s.over = true
	_ = http.NewResponseController(s.ResponseWriter).Flush()
	switch {
	case s.fault.Hang:
		<-s.ctx.Done()
	case s.fault.Clean:
		return
	}
	panic(http.ErrAbortHandler) // net/http's way to break a connection
}
