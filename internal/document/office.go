package document

import (
	"encoding/xml"
	"fmt"
	"path"
	"strings"
)

// Media types of Office files.
const (
	typeDocx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	typeXlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	typePptx = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
)

// readOffice tells the kinds of Office files apart by the parts they have.
func readOffice(out *writer, data []byte, limits Limits) (string, error) {
	a, err := openArchive(data, limits)
	if err != nil {
		return "", err
	}
	main, err := a.mainPart()
	if err != nil {
		return "", err
	}
	switch dir, _, _ := strings.Cut(main, "/"); dir {
	case "word":
		return typeDocx, readDocx(out, a, main)
	case "xl":
		return typeXlsx, readXlsx(out, a, main)
	case "ppt":
		return typePptx, readPptx(out, a, main)
	}
	return "", fmt.Errorf("%w (a zip archive); %s", ErrUnsupported, supported)
}

// mainPart is the part that an Office file begins with, "" when it is none. It
// has its usual name, or else the one that the file says: some programs write
// word/document2.xml.
func (a *archive) mainPart() (string, error) {
	for _, usual := range []string{"word/document.xml", "xl/workbook.xml", "ppt/presentation.xml"} {
		if a.has(usual) {
			return usual, nil
		}
	}
	const relations = "_rels/.rels"
	if !a.has(relations) {
		return "", nil
	}
	main := ""
	err := a.walk(relations, handler{start: func(e xml.StartElement) error {
		if part := strings.TrimPrefix(path.Clean(attr(e, "Target")), "/"); strings.HasSuffix(attr(e, "Type"), "/officeDocument") && a.has(part) {
			main = part
		}
		return nil
	}})
	return main, err
}

// readDocx writes the text of a Word document and then its notes, without what
// was deleted with changes tracked.
func readDocx(out *writer, a *archive, main string) error {
	if err := flow(out, a, main); err != nil {
		return err
	}
	for _, part := range []string{"word/footnotes.xml", "word/endnotes.xml"} {
		if !a.has(part) {
			continue
		}
		if err := out.line(); err != nil {
			return err
		}
		if err := flow(out, a, part); err != nil {
			return err
		}
	}
	return nil
}

// readPptx writes the slides in the order of the presentation.
func readPptx(out *writer, a *archive, presentation string) error {
	targets, err := a.relations(presentation)
	if err != nil {
		return err
	}
	var slides []string
	if err := a.walk(presentation, handler{start: func(e xml.StartElement) error {
		if target := targets[relationID(e)]; e.Name.Local == "sldId" && a.has(target) {
			slides = append(slides, target)
		}
		return nil
	}}); err != nil {
		return err
	}
	for i, slide := range slides {
		if err := out.line(); err != nil {
			return err
		}
		if err := out.write(fmt.Sprintf("[slide %d]\n", i+1)); err != nil {
			return err
		}
		if err := flow(out, a, slide); err != nil {
			return err
		}
	}
	return nil
}

// flow writes the running text of a part: in Word and PowerPoint alike it
// stands in elements t, of paragraphs p, in tables of rows tr and cells tc.
func flow(out *writer, a *archive, part string) error {
	f := &flowing{out: out}
	return a.walk(part, handler{start: f.start, end: f.end, text: f.text})
}

type flowing struct {
	out    *writer
	inText int
	unread int // depth inside of what is not text of its own, see unread
	cells  int // depth of table cells: paragraphs in them end no line
}

// unread are the elements of which nothing is read: an alternative that repeats
// what stands before it, where moved text was, and the tab stops of a paragraph.
func unread(element string) bool {
	switch element {
	case "Fallback", "moveFrom", "pPr", "tabLst":
		return true
	}
	return false
}

func (f *flowing) start(e xml.StartElement) error {
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
	}
	return nil
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
