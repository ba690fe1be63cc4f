package mcptools

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessageBytes bounds one message of a server.
const maxMessageBytes = 32 << 20

var errMessageTooLarge = fmt.Errorf("a message of the server has more than %d bytes", maxMessageBytes)

// lineReader reads lines and hands on what each makes of them, and end when
// there are no more; nil drops one.
type lineReader struct {
	from  *bufio.Reader
	close func() error
	each  func(line []byte) ([]byte, error)
	end   func() []byte

	ready []byte
	err   error
}

func newLineReader(from io.ReadCloser, each func(line []byte) ([]byte, error), end func() []byte) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 64<<10), close: from.Close, each: each, end: end}
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
			var err error
			if r.ready, err = r.each(line); err != nil {
				r.err = err
			}
		}
		if errors.Is(r.err, io.EOF) && r.end != nil {
			r.ready = append(r.ready, r.end()...)
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
		if len(line) > maxMessageBytes {
			return nil, errMessageTooLarge
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// stdioLine takes a line of a program's output: what is no message (a banner, a
// stray print) is told to noise and dropped, since it would end the session.
func stdioLine(noise func(string)) func([]byte) ([]byte, error) {
	return func(line []byte) ([]byte, error) {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
		if at := bytes.Index(line, []byte(`{"jsonrpc"`)); at > 0 && line[0] != '{' && line[0] != '[' { // a print without a line feed
			noise(string(line[:min(at, maxLine)]))
			line = line[at:]
		}
		out := messages(line)
		if len(out) == 0 && len(line) > 0 {
			noise(string(line[:min(len(line), maxLine)]))
		}
		return out, nil
	}
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
			return textBlock(text) // and nothing of what may stand beside it
		}
	case "image", "audio":
		if b.Data == nil || !isBase64(*b.Data) {
			return textBlock(binaryNote(b.Type, b.MIMEType, 0))
		}
		if isContent(raw) {
			return raw
		}
	case "resource":
		if b.Resource != nil && (b.Resource.Blob == nil || isBase64(*b.Resource.Blob)) && isContent(raw) {
			return raw
		}
	case "resource_link":
		if isContent(raw) {
			return raw
		}
	}
	return textBlock(fmt.Sprintf("[content of type %q, %d bytes, not shown]", b.Type, len(raw)))
}

// isContent says that the SDK can read a block.
func isContent(block json.RawMessage) bool {
	var r mcp.CallToolResult
	return json.Unmarshal(slices.Concat([]byte(`{"content":[`), block, []byte(`]}`)), &r) == nil
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
