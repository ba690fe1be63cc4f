package document

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // for its size
	_ "image/jpeg" // for its size
	_ "image/png"  // for its size
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// plainText decodes a text, ok false when it is none. What is not UTF-8 nor has
// a byte order mark is read as Windows-1252, as spreadsheets still write it.
func plainText(out *writer, data []byte) (text string, ok bool) {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		decoded, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(data)
		return newlines(string(decoded)), err == nil
	case bytes.IndexByte(data, 0) >= 0:
		return "", false
	case utf8.Valid(data):
		return newlines(string(data)), true
	}
	if binary(data) {
		return "", false
	}
	decoded, err := charmap.Windows1252.NewDecoder().Bytes(data)
	out.note("the text is not UTF-8 and was read as Windows-1252")
	return newlines(string(decoded)), err == nil
}

// binary says that more than one byte in a hundred is a control character.
func binary(data []byte) bool {
	controls := 0
	for _, c := range data {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' {
			controls++
		}
	}
	return controls*100 > len(data)
}

func newlines(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

func describeImage(out *writer, data []byte, kind string) error {
	size := ""
	if config, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		size = fmt.Sprintf(", %d × %d pixels", config.Width, config.Height)
	}
	return out.write(fmt.Sprintf("[an image: %s%s, %d bytes. What it shows is not known here: images are not read, there is no OCR.]", kind, size, len(data)))
}
