package document

import (
	"encoding/xml"
	"fmt"
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
	switch {
	case a.has("word/document.xml"):
		return typeDocx, readDocx(out, a)
	case a.has("xl/workbook.xml"):
		return typeXlsx, readXlsx(out, a)
	case a.has("ppt/presentation.xml"):
		return typePptx, readPptx(out, a)
	}
	return "", fmt.Errorf("%w (a zip archive); %s", ErrUnsupported, supported)
}

// readDocx writes the text of a Word document and then its notes, without what
// was deleted with changes tracked.
func readDocx(out *writer, a *archive) error {
	if err := flow(out, a, "word/document.xml"); err != nil {
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
func readPptx(out *writer, a *archive) error {
	const presentation = "ppt/presentation.xml"
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
	fall   int // depth inside of an alternative that repeats what stands before it
	cells  int // depth of table cells: paragraphs in them end no line
}

func (f *flowing) start(e xml.StartElement) error {
	switch e.Name.Local {
	case "Fallback":
		f.fall++
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
	if f.fall > 0 {
		return nil
	}
	return f.out.write(text)
}

func (f *flowing) end(e xml.EndElement) error {
	switch e.Name.Local {
	case "Fallback":
		f.fall--
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
