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

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// plainText decodes a text, ok false when it is none. What is not UTF-8 nor has
// a byte order mark is read as the encoding that it names, if it is HTML, as UTF-16
// if it looks like it, as UTF-8 with damage, or else as Windows-1252, as
// spreadsheets still write it. A note says so.
func plainText(out *writer, data []byte, html bool) (text string, ok bool) {
	if e := marked(data); e != nil {
		return decoded(out, e, data)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		order, ok := looksWide(data)
		if !ok {
			return "", false
		}
		out.note("the text has no byte order mark and was read as UTF-16")
		return decoded(out, unicode.UTF16(order, unicode.IgnoreBOM), data)
	}
	if utf8.Valid(data) {
		return newlines(string(data)), true
	}
	if binary(data) {
		return "", false
	}
	if html {
		if e, name, declared := charset.DetermineEncoding(data[:min(len(data), 1024)], ""); declared || name != "windows-1252" {
			return decoded(out, e, data)
		}
	}
	if damaged := damagedUTF8(data); damaged > 0 {
		out.note("%d places of the text are not UTF-8 and stand as \ufffd", damaged)
		return newlines(strings.ToValidUTF8(string(data), "\ufffd")), true
	}
	out.note("the text is not UTF-8 and was read as Windows-1252")
	return decoded(out, charmap.Windows1252, data)
}

// marked is the encoding that a byte order mark says, nil without one. UTF-8
// needs none.
func marked(data []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(data, []byte{0, 0, 0xfe, 0xff}):
		return utf32.UTF32(utf32.LittleEndian, utf32.ExpectBOM)
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	}
	return nil
}

// decoded is a text in an encoding, with a note of what is damaged in it.
func decoded(out *writer, e encoding.Encoding, data []byte) (text string, ok bool) {
	b, err := e.NewDecoder().Bytes(data)
	if err != nil {
		return "", false
	}
	if n := bytes.Count(b, []byte("\ufffd")); n > 0 {
		out.note("%d characters of the text are damaged and stand as \ufffd", n)
	}
	return newlines(string(b)), true
}

// looksWide says that data looks like UTF-16 without its mark: every other byte
// of what is in Latin letters is zero, and the bytes between hardly ever.
func looksWide(data []byte) (order unicode.Endianness, ok bool) {
	var zeros [2]int
	for i, c := range data {
		if c == 0 {
			zeros[i%2]++
		}
	}
	const few = 50 // one in so many
	half := len(data) / 2
	switch {
	case len(data)%2 != 0:
		return order, false
	case zeros[1] > half/4 && zeros[0] <= half/few:
		return unicode.LittleEndian, true
	case zeros[0] > half/4 && zeros[1] <= half/few:
		return unicode.BigEndian, true
	}
	return order, false
}

// damagedUTF8 is how many places of a text that is UTF-8 for the most part are
// not, 0 when it is another encoding: there, hardly any sequence is legal.
func damagedUTF8(data []byte) int {
	damaged, legal := 0, 0
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			damaged++
		case size > 1:
			legal++
		}
		data = data[size:]
	}
	if legal < 3*damaged {
		return 0
	}
	return damaged
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
