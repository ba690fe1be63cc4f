package mcptools

import (
	"bytes"
	"encoding/json"
)

// events takes the lines of an event stream and hands on events that the SDK
// reads without loss: data over several lines becomes one line, several messages
// become several events, and what is no message, or no line of an event, is left
// out, since the SDK would end the session for it. An event that is cut off is
// none, so that the stream is resumed before it.
type events struct {
	fields []byte // the event's other lines
	data   []byte
	some   bool // it has data
}

// line takes one line, and gives the event that it ends.
func (e *events) line(line []byte) ([]byte, error) {
	whole := bytes.HasSuffix(line, []byte("\n"))
	line = bytes.TrimRight(line, "\r\n")
	if len(line) == 0 && whole {
		return e.event(), nil
	}
	name, value, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), []byte(":"))
	switch string(name) {
	case "data":
		if e.some {
			e.data = append(e.data, '\n')
		}
		e.data, e.some = append(e.data, bytes.TrimPrefix(value, []byte(" "))...), true
	case "id", "event", "retry":
		if whole {
			e.fields = append(append(append(append(e.fields, name...), ':'), value...), '\n')
		}
	}
	if len(e.data)+len(e.fields) > maxMessageBytes {
		return nil, errMessageTooLarge
	}
	return nil, nil
}

// end gives the last event where the server left out the line that ends it.
func (e *events) end() []byte {
	if !json.Valid(e.data) {
		return nil
	}
	return e.event()
}

func (e *events) event() []byte {
	out, data := e.fields, bytes.TrimSpace(e.data)
	*e = events{}
	for i, m := range fitAll(data) {
		if i > 0 {
			out = append(out, '\n')
		}
		out = append(append(append(out, "data: "...), m...), '\n')
	}
	if len(out) == 0 {
		return nil
	}
	return append(out, '\n')
}
