package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"strings"
	"unicode/utf8"
)

// MaxBytes bounds a file.
const MaxBytes = 15 << 20

// Text is what a file says.
type Text struct {
	// Type is the file's media type, by its content and then by its name.
	Type string `json:"type"`

	// Text is valid UTF-8 with "\n" as the end of a line and no other control
	// character than it and the tab.
	Text string `json:"text"`

	// Notes say what the text lacks, in the order of the file.
	Notes []string `json:"notes,omitempty"`
}

// Errors of [Read], told apart with errors.Is; the rest is damage.
var (
	ErrTooLarge    = errors.New("the file is too large")
	ErrUnsupported = errors.New("the file is of a kind that cannot be read")
	ErrLimit       = errors.New("the file asks for more than a reader gives")
)

// Limits bound what a file may ask for. The zero value is [DefaultLimits].
type Limits struct {
	Inflated  int64 // bytes that come out of an archive's entries that are read, together
	Entries   int   // of an archive
	Depth     int   // of nested XML elements, PDF page trees and forms
	TextBytes int   // of the text; what is longer is cut, and a note says so
	PDFPages  int
}

// DefaultLimits hold any honest file of [MaxBytes].
var DefaultLimits = Limits{Inflated: 64 << 20, Entries: 10_000, Depth: 200, TextBytes: 16 << 20, PDFPages: 10_000} //nolint:gochecknoglobals // never changed

const supported = "pdf, docx, xlsx, pptx, html, csv, json and plain text can be"

// Read reads a file of that name. It ends early with ctx. It does not panic, but
// a hostile PDF can make it use much memory: see [Isolated].
func Read(ctx context.Context, name string, data []byte, limits Limits) (t Text, err error) {
	if limits == (Limits{}) {
		limits = DefaultLimits
	}
	defer func() {
		if r := recover(); r != nil {
			t, err = Text{}, fmt.Errorf("the file is damaged: %v", r)
			if ended := ctx.Err(); ended != nil {
				err = ended
			}
			debug.FreeOSMemory() // what the parser held
		}
	}()
	if len(data) > MaxBytes {
		return Text{}, fmt.Errorf("%w: it has %d bytes, at most %d can be attached", ErrTooLarge, len(data), MaxBytes)
	}
	if len(data) == 0 {
		return Text{}, fmt.Errorf("%w: it is empty", ErrUnsupported)
	}
	out := &writer{limit: limits.TextBytes, ctx: ctx}
	kind, err := read(out, name, data, limits)
	if errors.Is(err, errFull) {
		out.note("the text is cut after %d bytes", limits.TextBytes)
		err = nil
	}
	if err != nil {
		return Text{}, err
	}
	return Text{Type: kind, Text: out.text(), Notes: out.notes}, nil
}

// read writes the file's text and gives its media type.
func read(out *writer, name string, data []byte, limits Limits) (string, error) {
	ext := strings.ToLower(filepath.Ext(name))
	if at := headerOf(data, ext); at >= 0 {
		return "application/pdf", readPDF(out, data[at:], limits)
	}
	sniffed, _, _ := strings.Cut(http.DetectContentType(data), ";")
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return readOffice(out, data, limits)
	case bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return "", fmt.Errorf("%w: it is an old or an encrypted Office file; save it as docx, xlsx or pptx without a password", ErrUnsupported)
	case bytes.HasPrefix(data, []byte(`{\rtf`)):
		return "", fmt.Errorf("%w: it is rich text (rtf); save it as docx or pdf", ErrUnsupported)
	case bytes.HasPrefix(data, []byte("%!PS-")):
		return "", fmt.Errorf("%w: it is PostScript; save it as pdf", ErrUnsupported)
	case strings.HasPrefix(sniffed, "image/") && (bytes.IndexByte(data, 0) >= 0 || binary(data)): // a text may begin with BM, as a bitmap does
		return sniffed, describeImage(out, data, sniffed)
	}
	html := ext == ".html" || ext == ".htm" || ext == ".xhtml" || sniffed == "text/html"
	text, ok := plainText(out, data, html)
	switch {
	case !ok:
		return "", fmt.Errorf("%w (%s); %s", ErrUnsupported, sniffed, supported)
	case html:
		return "text/html", readHTML(out, text)
	case ext == ".csv":
		return "text/csv", out.write(text)
	case ext == ".json":
		return "application/json", out.write(text)
	default:
		return "text/plain", out.write(text)
	}
}

// headerOf is where a PDF begins in the file, -1 when it is none. A text may
// speak of PDFs.
func headerOf(data []byte, ext string) int {
	at := bytes.Index(data[:min(len(data), maxPDFLead)], []byte("%PDF-"))
	switch {
	case at < 0, bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return -1
	case ext != ".pdf" && !bytes.Contains(data, []byte("startxref")) && utf8.Valid(data) && !binary(data):
		return -1
	}
	return at
}

// WithNotes is the text after its notes, each a line in brackets.
func (t Text) WithNotes() string {
	text := ""
	for _, note := range t.Notes {
		text += "[note: " + note + "]\n"
	}
	return text + t.Text
}
