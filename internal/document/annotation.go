package document

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ledongthuc/pdf"
)

const (
	maxAnnotations = 10_000 // of a page
	maxFieldDepth  = 20     // of a form's fields
)

// annotations writes what stands on a page beside its content: the fields of a
// form that have a value, and comments. Each is a line.
func (p *pdfReader) annotations(page pdf.Value) (err error) {
	defer p.recovered(&err)
	list := page.Key("Annots")
	for i := range min(list.Len(), maxAnnotations) {
		a := list.Index(i)
		line := ""
		switch kind := a.Key("Subtype").Name(); kind {
		case "Widget":
			line = p.field(a)
		case "Link", "Popup":
		default:
			if said := said(a.Key("Contents")); said != "" {
				line = "[comment: " + said + "]"
			}
		}
		if line == "" {
			continue
		}
		must(p.out.line())
		must(p.out.write(line + "\n"))
	}
	return nil
}

// field is a field of a form with its value, "" without one, and for the second
// time.
func (p *pdfReader) field(widget pdf.Value) string {
	name, kind := "", ""
	var value pdf.Value
	for f, depth := widget, 0; f.Kind() == pdf.Dict && depth < maxFieldDepth; f, depth = f.Key("Parent"), depth+1 {
		if part := said(f.Key("T")); part != "" && name != "" {
			name = part + "." + name
		} else if part != "" {
			name = part
		}
		if kind == "" {
			kind = f.Key("FT").Name()
		}
		if value.IsNull() {
			value = f.Key("V")
		}
	}
	text := ""
	switch {
	case kind == "Sig":
		return ""
	case value.Kind() == pdf.Array:
		var all []string
		for i := range min(value.Len(), 1000) {
			all = append(all, said(value.Index(i)))
		}
		text = strings.Join(all, ", ")
	case value.Kind() == pdf.Name:
		text = value.Name()
	default:
		text = said(value)
	}
	if text == "" || p.fields[name] {
		return ""
	}
	p.fields[name] = true
	return fmt.Sprintf("[field %s: %s]", name, text)
}

// said is a text string in one line. A long one may be a stream.
func said(v pdf.Value) string {
	text := ""
	switch v.Kind() {
	case pdf.String:
		text = v.Text()
		if raw := v.RawString(); strings.HasPrefix(raw, "\xef\xbb\xbf") {
			text = raw[3:]
		}
	case pdf.Stream:
		text = unknown
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t':
			return ' '
		case unicode.IsControl(r): // also what fills an encrypted string
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, unknown))
	return strings.TrimSpace(text)
}
