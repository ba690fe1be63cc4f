package mcptools

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxMessageBytes bounds one message of a server.
const maxMessageBytes = 32 << 20

var errMessageTooLarge = fmt.Errorf("a message of the server has more than %d bytes", maxMessageBytes)

// lineReader reads lines and hands on what each makes of them; nil drops one.
type lineReader struct {
	from  *bufio.Reader
	close func() error
	each  func(line []byte) []byte

	ready []byte
	err   error
}

func newLineReader(from io.ReadCloser, each func(line []byte) []byte) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 64<<10), close: from.Close, each: each}
}

// Close closes what is read from.
func (r *lineReader) Close() error { return r.close() }

// Read gives whole lines, in pieces where p is short.
func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.ready) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		var line []byte
		line, r.err = r.line()
		if len(line) > 0 {
			r.ready = r.each(line)
		}
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

func (r *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.from.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxMessageBytes {
			return nil, errMessageTooLarge
		}
	}
}

// stdioLine takes a line of a program's output: what is no message (a banner, a
// stray print) is told to noise and dropped, since it would end the session.
func stdioLine(noise func(string)) func([]byte) []byte {
	return func(line []byte) []byte {
		trimmed := bytes.TrimSpace(line)
		if len(trimmed) == 0 {
			return nil
		}
		if trimmed[0] != '{' && trimmed[0] != '[' || !json.Valid(trimmed) {
			noise(string(trimmed[:min(len(trimmed), maxLine)]))
			return nil
		}
		return append(readable(trimmed), '\n')
	}
}

// eventLine takes a line of an event stream.
func eventLine(line []byte) []byte {
	data, isData := bytes.CutPrefix(line, []byte("data:"))
	trimmed := bytes.TrimSpace(data)
	if !isData || len(trimmed) == 0 || trimmed[0] != '{' {
		return line
	}
	out := append([]byte("data: "), readable(trimmed)...)
	return append(out, '\n')
}

// readable makes a tool's result fit for the SDK to read without loss: a block
// of content that it does not know, or cannot decode, would lose the result of
// a call that was made. The text of the structured content is kept in _meta.
// Every other message stays as it is.
func readable(message []byte) []byte {
	if !bytes.Contains(message, []byte(`"result"`)) ||
		!bytes.Contains(message, []byte(`"content"`)) && !bytes.Contains(message, []byte(`"structuredContent"`)) {
		return message
	}
	var envelope, result map[string]json.RawMessage
	if json.Unmarshal(message, &envelope) != nil || json.Unmarshal(envelope["result"], &result) != nil {
		return message
	}
	content, hasContent := result["content"]
	structured, hasStructured := result["structuredContent"]
	if !hasContent && !hasStructured {
		return message
	}
	if hasContent {
		result["content"] = readableContent(content)
	}
	if hasStructured {
		result["_meta"] = withStructured(result["_meta"], structured)
		if json.Unmarshal(structured, new(any)) != nil { // a number that no float holds
			delete(result, "structuredContent")
		}
	}
	var err error
	if envelope["result"], err = json.Marshal(result); err != nil {
		return message
	}
	out, err := json.Marshal(envelope)
	if err != nil {
		return message
	}
	return out
}

func withStructured(meta, structured json.RawMessage) json.RawMessage {
	all := map[string]json.RawMessage{}
	if json.Unmarshal(meta, &all) != nil || all == nil {
		all = map[string]json.RawMessage{}
	}
	text, err := json.Marshal(string(structured))
	if err != nil {
		return meta
	}
	all[structuredMeta] = text
	out, err := json.Marshal(all)
	if err != nil {
		return meta
	}
	return out
}

// readableContent is the list of blocks with every block one that the SDK reads.
func readableContent(raw json.RawMessage) json.RawMessage {
	var blocks []json.RawMessage
	if err := json.Unmarshal(raw, &blocks); err != nil { // one block without its list, or a bare text
		blocks = []json.RawMessage{raw}
	}
	out := make([]json.RawMessage, 0, len(blocks))
	for _, b := range blocks {
		if b = readableBlock(b); b != nil {
			out = append(out, b)
		}
	}
	list, err := json.Marshal(out)
	if err != nil {
		return json.RawMessage("[]")
	}
	return list
}

func readableBlock(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if string(raw) == "null" {
			return nil
		}
		return textBlock(text)
	}
	var b struct {
		Type     string           `json:"type"`
		Text     *json.RawMessage `json:"text"`
		Data     *string          `json:"data"`
		MIMEType string           `json:"mimeType"`
		Resource *struct {
			Blob *string `json:"blob"`
		} `json:"resource"`
	}
	if json.Unmarshal(raw, &b) != nil {
		return textBlock(fmt.Sprintf("[content that cannot be read, %d bytes]", len(raw)))
	}
	switch b.Type {
	case "text":
		if b.Text == nil || json.Unmarshal(*b.Text, &text) == nil {
			return raw
		}
	case "image", "audio":
		if b.Data != nil && isBase64(*b.Data) {
			return raw
		}
		return textBlock(binaryNote(b.Type, b.MIMEType, 0))
	case "resource":
		if b.Resource != nil && (b.Resource.Blob == nil || isBase64(*b.Resource.Blob)) {
			return raw
		}
	case "resource_link":
		return raw
	}
	return textBlock(fmt.Sprintf("[content of type %q, %d bytes, not shown]", b.Type, len(raw)))
}

func textBlock(text string) json.RawMessage {
	out, err := json.Marshal(map[string]string{"type": "text", "text": text})
	if err != nil {
		return nil
	}
	return out
}

func isBase64(s string) bool {
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil
}
