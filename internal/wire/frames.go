package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"
)

const (
	maxFrame   = 16 << 20
	drainBytes = 4 << 10
	drainTime  = 50 * time.Millisecond
)

// frames reads a server-sent event stream and hands on one "data: …" line per
// frame, each of them JSON, with everything else left out. A frame that is an
// error ends it with an [*Error]; the end of the stream with io.EOF, and done
// says whether [DONE] was seen.
type frames struct {
	r    *bufio.Reader
	body io.Closer
	idle *idleWatch

	lineBuf []byte // a line; its memory is used again
	pending []byte // data of a frame that is not complete yet
	event   string // event field of the frame
	out     []byte // what Read hands on
	read    int    // how much of out was handed on
	err     error  // what Read returns once out is empty
	done    bool
}

func newFrames(r *bufio.Reader, body io.Closer, idle *idleWatch) *frames {
	return &frames{r: r, body: body, idle: idle}
}

func (f *frames) Read(p []byte) (int, error) {
	for f.read == len(f.out) {
		if f.err != nil {
			return 0, f.err
		}
		f.out, f.read = f.out[:0], 0
		f.next()
	}
	n := copy(p, f.out[f.read:])
	f.read += n
	return n, nil
}

// Close closes the body. After a [DONE] it first reads what is left, briefly,
// so that the connection can be used again.
func (f *frames) Close() error {
	if f.done {
		f.idle.narrow(drainTime)
		_, _ = io.CopyN(io.Discard, f.r, drainBytes)
	}
	return f.body.Close()
}

// next reads one line of the stream.
func (f *frames) next() {
	line, err := f.line()
	line = bytes.TrimRight(line, "\r\n")
	for more := true; more; {
		var part []byte
		part, line, more = bytes.Cut(line, []byte("\r"))
		// Nothing after the last line break is no empty line.
		if f.err == nil && !f.done && (err == nil || len(part) > 0) {
			f.field(part)
		}
	}
	if f.err == nil && !f.done && err != nil && (f.event == "error" || json.Valid(f.pending)) {
		f.flush() // what is left is whole; anything else was cut
	}
	switch {
	case f.err != nil:
	case f.done:
		f.err = io.EOF
	default:
		f.err = err
	}
}

// line reads up to the next newline, bounded.
func (f *frames) line() ([]byte, error) {
	f.lineBuf = f.lineBuf[:0]
	for {
		part, err := f.r.ReadSlice('\n')
		if len(f.lineBuf) == 0 && err == nil {
			return part, nil
		}
		f.lineBuf = append(f.lineBuf, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return f.lineBuf, err
		}
		if len(f.lineBuf) > maxFrame {
			return nil, &Error{Kind: KindTooLarge, Message: "a frame of the stream is larger than 16 MiB"}
		}
	}
}

// field takes in one line.
func (f *frames) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimSpace(value)
	switch {
	case len(line) == 0:
		f.flush()
		f.event = ""
	case string(name) == "event":
		f.event = string(value)
	case string(name) == "data":
		f.data(value)
	}
}

// data takes in a data line. One that is JSON by itself is a frame at once,
// since servers leave the empty line out; others are joined up to it.
func (f *frames) data(value []byte) {
	switch {
	case len(f.pending) == 0 && len(value) == 0:
		return
	case string(value) == "[DONE]":
		f.flush()
		f.done = f.err == nil
		return
	case len(f.pending) == 0 && json.Valid(value):
		f.pending = append(f.pending, value...)
		f.flush()
		return
	case len(f.pending) > 0:
		f.pending = append(f.pending, '\n')
	}
	f.pending = append(f.pending, value...)
	if len(f.pending) > maxFrame {
		f.err = &Error{Kind: KindTooLarge, Message: "a frame of the stream is larger than 16 MiB"}
	}
}

// flush ends a frame.
func (f *frames) flush() {
	if len(f.pending) == 0 {
		return
	}
	switch e := frameError(f.pending, f.event == "error"); {
	case e != nil:
		f.err = e
	case !json.Valid(f.pending):
		f.err = &Error{Kind: KindInterrupted, Message: "a frame of the stream is not JSON: " + excerpt(f.pending)}
	default:
		f.emit(f.pending)
	}
	f.pending = f.pending[:0]
}

// emit hands on a frame in one line. The space keeps go-openai from taking a
// frame with "error":null for an error.
func (f *frames) emit(frame []byte) {
	f.out = append(f.out, "data: "...)
	if bytes.HasPrefix(frame, []byte("{")) {
		f.out = append(f.out, "{ "...)
		frame = frame[1:]
	}
	for more := true; more; {
		var part []byte
		part, frame, more = bytes.Cut(frame, []byte{'\n'})
		f.out = append(f.out, part...)
	}
	f.out = append(f.out, '\n')
}
