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
	if strings.HasSuffix(strings.ToLower(main), ".bin") {
		return "", fmt.Errorf("%w: it is a binary Office file; save it as xlsx, docx or pptx", ErrUnsupported)
	}
	switch dir, _, _ := strings.Cut(strings.ToLower(main), "/"); dir {
	case "word":
		return typeDocx, readDocx(out, a, main)
	case "xl":
		return typeXlsx, readXlsx(out, a, main)
	case "ppt":
		return typePptx, readPptx(out, a, main)
	}
	if a.has("content.xml") && a.has("mimetype") {
		return "", fmt.Errorf("%w: it is an OpenDocument file; save it as docx, xlsx or pptx", ErrUnsupported)
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

// readDocx writes the headers, the text, its notes, the comments and the footers
// of a Word document, without what was deleted with changes tracked.
func readDocx(out *writer, a *archive, main string) error {
	lacks := &lacking{}
	for _, part := range []struct{ kind, usual, head string }{
		{"header", "", "[header]"},
		{"", main, ""},
		{"footnotes", "word/footnotes.xml", ""},
		{"endnotes", "word/endnotes.xml", ""},
		{"comments", "word/comments.xml", "[comments]"},
		{"footer", "", "[footer]"},
	} {
		parts := []string{main}
		if part.kind != "" {
			var err error
			if parts, err = a.relatedOf(main, part.kind, part.usual); err != nil {
				return err
			}
		}
		for _, name := range parts {
			if err := flowUnder(out, a, name, part.head, lacks); err != nil {
				return err
			}
		}
	}
	lacks.note(out)
	return nil
}

// flowUnder writes the running text of a part in lines of its own, after a head,
// which is left out with a text that is empty.
func flowUnder(out *writer, a *archive, part, head string, lacks *lacking) error {
	if err := out.line(); err != nil {
		return err
	}
	before := out.b.Len()
	if head != "" {
		if err := out.write(head + "\n"); err != nil {
			return err
		}
	}
	began := out.b.Len()
	if err := flow(out, a, part, lacks); err != nil {
		return err
	}
	if strings.TrimSpace(out.b.String()[began:]) == "" {
		kept := out.b.String()[:before]
		out.b.Reset()
		out.b.WriteString(kept)
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
	lacks := &lacking{}
	for i, slide := range slides {
		if err := out.line(); err != nil {
			return err
		}
		if err := out.write(fmt.Sprintf("[slide %d]\n", i+1)); err != nil {
			return err
		}
		if err := flow(out, a, slide, lacks); err != nil {
			return err
		}
		notes, err := a.relatedOf(slide, "notesSlide", "")
		if err != nil {
			return err
		}
		for _, part := range notes {
			if err := flowUnder(out, a, part, "[notes]", lacks); err != nil {
				return err
			}
		}
	}
	lacks.note(out)
	return nil
}
