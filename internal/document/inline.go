package document

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ledongthuc/pdf"
)

// maxContent bounds what a page's content inflates to.
const maxContent = 64 << 20

// withoutImages is a page's content in one stream, without the images that stand
// in it: the parser would take their bytes for operators, and an odd "(" for
// the begin of a string that swallows the text after it. Several streams are set
// apart, as the standard has it: an operator ends with its stream.
func withoutImages(contents pdf.Value) pdf.Value {
	if contents.Kind() != pdf.Array && contents.Kind() != pdf.Stream {
		return contents
	}
	var all []byte
	read := func(v pdf.Value) {
		if v.Kind() != pdf.Stream {
			return
		}
		data, err := io.ReadAll(io.LimitReader(v.Reader(), int64(maxContent-len(all)+1)))
		if err != nil && len(data) == 0 {
			panic(err)
		}
		if all = append(append(all, data...), '\n'); len(all) > maxContent {
			must(fmt.Errorf("%w: the content of a page of the PDF inflates to more than %d bytes", ErrLimit, maxContent))
		}
	}
	if contents.Kind() == pdf.Stream {
		read(contents)
	}
	for i := range contents.Len() {
		read(contents.Index(i))
	}
	return streamOf(cutImages(all))
}

// streamOf is data as the stream of a PDF of its own.
func streamOf(data []byte) pdf.Value { return trailerOf(data).Key("Root") }

// dictionary is one of nobody's, that may be changed.
func dictionary() pdf.Value { return trailerOf(nil) }

func trailerOf(data []byte) pdf.Value {
	var b bytes.Buffer
	b.Grow(len(data) + 400)
	b.WriteString("%PDF-1.7\n")
	at := b.Len()
	fmt.Fprintf(&b, "1 0 obj\n<</Length %d>>\nstream\n", len(data))
	b.Write(data)
	b.WriteString("\nendstream\nendobj\n")
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 2\n0000000000 65535 f \n%010d 00000 n \ntrailer\n<</Size 2/Root 1 0 R>>\n%%%100s\nstartxref\n%d\n%%%%EOF\n", at, "", table)
	r, err := pdf.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		panic(err)
	}
	return r.Trailer()
}

// cutImages takes "BI … ID … EI" out of a content.
func cutImages(data []byte) []byte {
	if !bytes.Contains(data, []byte("BI")) {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		end := tokenEnd(data, i)
		if string(data[i:end]) == "BI" {
			if after := imageEnd(data, end); after > 0 {
				out = append(out, ' ')
				i = after
				continue
			}
		}
		out = append(out, data[i:end]...)
		i = end
	}
	return out
}

// tokenEnd is where a string, a comment, a word or a single other byte ends.
func tokenEnd(data []byte, i int) int {
	switch c := data[i]; {
	case c == '(':
		return literalEnd(data, i)
	case c == '%':
		if n := bytes.IndexAny(data[i:], "\r\n"); n >= 0 {
			return i + n
		}
		return len(data)
	case blank(c), bytes.IndexByte([]byte("<>[]{})"), c) >= 0:
		return i + 1
	}
	end := i + 1
	for end < len(data) && !blank(data[end]) && bytes.IndexByte([]byte("()<>[]{}/%"), data[end]) < 0 {
		end++
	}
	return end
}

func literalEnd(data []byte, i int) int {
	depth := 0
	for ; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(data)
}

func blank(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

// imageEnd is where the image ends whose dictionary begins at i, 0 when it is no
// image: after an EI that stands alone and that a content's text follows.
func imageEnd(data []byte, i int) int {
	const dictionary, ahead = 4096, 16
	head := data[i:min(len(data), i+dictionary)]
	id := 0
	for at := 0; id == 0 && at < len(head); {
		end := tokenEnd(head, at)
		if string(head[at:end]) == "ID" {
			id = i + end
		}
		at = end
	}
	if id == 0 {
		return 0
	}
	for at := id; ; {
		n := bytes.Index(data[at:], []byte("EI"))
		if n < 0 {
			return len(data)
		}
		at += n + 2
		if !blank(data[at-3]) || at < len(data) && !blank(data[at]) {
			continue
		}
		text := true
		for _, c := range data[at:min(len(data), at+ahead)] {
			text = text && (blank(c) && c != 0 || c > ' ' && c < 0x7f)
		}
		if text {
			return at
		}
	}
}
