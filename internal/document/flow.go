package document

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// flow writes the running text of a part: in Word and PowerPoint alike it
// stands in elements t, of paragraphs p, in tables of rows tr and cells tc.
func flow(out *writer, a *archive, part string, lacks *lacking) error {
	f := &flowing{out: out, lacks: lacks}
	return a.walk(part, handler{start: f.start, end: f.end, text: f.text})
}

type flowing struct {
	out    *writer
	lacks  *lacking
	inText int
	unread int // depth inside of what is not text of its own, see unread
	cells  int // depth of table cells: paragraphs in them end no line
}

// lacking counts what a file shows and its text lacks.
type lacking struct{ pictures, objects, chunks, numbered int }

func (l *lacking) note(out *writer) {
	if l.pictures > 0 {
		out.note("%d pictures of the file are not read: there is no OCR", l.pictures)
	}
	if l.objects > 0 {
		out.note("%d charts, diagrams or embedded objects of the file are not read", l.objects)
	}
	if l.chunks > 0 {
		out.note("%d documents that are embedded as a part of the text are not read; save the file anew with Word to have them in it", l.chunks)
	}
	if l.numbered > 0 {
		out.note("%d paragraphs are numbered or bulleted by Word: the numbers do not stand in the text", l.numbered)
	}
}

// unread are the elements of which nothing is read: an alternative that repeats
// what stands before it, what was deleted, where moved text was, how a word is
// pronounced, and the tab stops of a paragraph.
func unread(element string) bool {
	switch element {
	case "Fallback", "del", "moveFrom", "rt", "pPr", "tabLst":
		return true
	}
	return false
}

func (f *flowing) start(e xml.StartElement) error {
	f.count(e.Name.Local)
	if unread(e.Name.Local) {
		f.unread++
	}
	switch e.Name.Local {
	case "t":
		f.inText++
	case "tc":
		f.cells++
	case "tab":
		return f.mark("\t")
	case "br", "cr":
		return f.mark("\n")
	case "noBreakHyphen":
		return f.mark("-")
	case "sym":
		return f.mark(symbol(attr(e, "char")))
	case "footnoteReference", "endnoteReference":
		return f.mark(noteMark(e))
	case "footnote", "endnote":
		if attr(e, "type") == "" { // no separator
			return f.mark(noteMark(e) + " ")
		}
	}
	return nil
}

// count counts what the text will lack. Numbering is a paragraph's property.
func (f *flowing) count(element string) {
	switch {
	case element == "numPr":
		f.lacks.numbered++
	case f.unread > 0:
	case element == "blip", element == "imagedata":
		f.lacks.pictures++
	case element == "chart", element == "relIds", element == "OLEObject", element == "oleObj":
		f.lacks.objects++
	case element == "altChunk":
		f.lacks.chunks++
	}
}

// symbol is a character of a font that Word names by its code. Those of the
// private range mean what only their font knows.
func symbol(code string) string {
	n, err := strconv.ParseUint(code, 16, 16)
	if r := rune(n); err == nil && (r < 0xe000 || r > 0xf8ff) {
		return string(r)
	}
	return "\ufffd"
}

// noteMark is the mark of a foot note, "[^2]", or of an end note, "[^e2]".
func noteMark(e xml.StartElement) string {
	if strings.HasPrefix(e.Name.Local, "endnote") {
		return "[^e" + attr(e, "id") + "]"
	}
	return "[^" + attr(e, "id") + "]"
}

func (f *flowing) mark(text string) error {
	if f.unread > 0 {
		return nil
	}
	return f.out.write(text)
}

func (f *flowing) end(e xml.EndElement) error {
	if unread(e.Name.Local) {
		f.unread--
	}
	switch e.Name.Local {
	case "t":
		f.inText--
	case "p":
		if f.cells > 0 {
			return f.mark(" ")
		}
		return f.mark("\n")
	case "tc":
		f.cells--
		return f.mark("\t")
	case "tr":
		return f.mark("\n")
	}
	return nil
}

func (f *flowing) text(s string) error {
	if f.inText == 0 {
		return nil
	}
	return f.mark(s)
}
