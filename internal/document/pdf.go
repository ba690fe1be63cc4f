package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ledongthuc/pdf"
)

// maxRead bounds what the parser reads of a PDF, in bytes. It keeps nothing, so
// that it reads a page's fonts, say, again for each page.
const maxRead = 4 << 30

// maxOpening bounds what it reads to find the file's tables, in bytes: a chain of
// tables that leads back to itself is read for ever. A read counts as a block.
const (
	maxOpening = 256 << 20
	readBlock  = 4 << 10
)

// maxPDFLead is how much may stand before a PDF's header, as in Acrobat.
const maxPDFLead = 1024

// maxPDFNodes bounds a page tree, pages included.
const maxPDFNodes = 50_000

// readPDF writes the text of the pages, each after a line with its number.
func readPDF(out *writer, data []byte, limits Limits) error {
	data = repaired(data)
	in := &readerAt{ctx: out.ctx, r: bytes.NewReader(data), left: maxOpening, least: readBlock}
	r, err := pdf.NewReader(in, int64(len(data)))
	in.left, in.least = maxRead, 1
	switch {
	case err != nil && out.ctx.Err() != nil:
		return out.ctx.Err()
	case errors.Is(err, pdf.ErrInvalidPassword):
		return fmt.Errorf("%w: the PDF is encrypted with a password; save it without one", ErrUnsupported)
	case err != nil && strings.Contains(err.Error(), "encrypt"):
		return fmt.Errorf("%w: the PDF is encrypted in a way that is not known here; save it without encryption (%w)", ErrUnsupported, err)
	case err != nil:
		return fmt.Errorf("the PDF is damaged: %w", err)
	}
	p := &pdfReader{out: out, limits: limits, fields: map[string]bool{}}
	if err := p.tree(r.Trailer().Key("Root").Key("Pages"), nil, 0); err != nil {
		return err
	}
	if p.pages == 0 {
		return errors.New("the PDF has no pages")
	}
	p.tell(r.Trailer().Key("Root"))
	return nil
}

// tell notes what the text lacks.
func (p *pdfReader) tell(root pdf.Value) {
	out := p.out
	if out.unknown > 0 {
		out.note("%d characters of the PDF are of fonts that do not say what they mean, and stand as "+unknown, out.unknown)
	}
	if !root.Key("AcroForm").Key("XFA").IsNull() {
		out.note("the PDF has an XFA form: what only that has is not read; print it to a PDF to have it")
	}
	if p.empty > 0 {
		out.note("%d of %d pages of the PDF hold no text; they may be scanned images, which are not read: there is no OCR", p.empty, p.pages)
	}
}

// repaired gives the version and the end of the header the form that the parser
// insists on, at the same length, and takes away what follows the end.
func repaired(data []byte) []byte {
	const end = "%%EOF"
	if at := bytes.LastIndex(data, []byte(end)); at >= 0 {
		data = data[:at+len(end)]
	}
	head := bytes.Clone(data[:min(len(data), 9)])
	if len(head) < 9 {
		return data
	}
	copy(head[5:], "1.7")
	if head[8] != '\r' && head[8] != '\n' {
		head[8] = '\n'
	}
	return append(head, data[9:]...)
}

// pdfReader walks the pages of a PDF.
type pdfReader struct {
	out          *writer
	limits       Limits
	nodes, pages int
	empty        int             // pages without text
	fields       map[string]bool // of the form, that were written
}

// tree reads a node of the page tree. A tree that comes back to itself ends at
// the limits.
func (p *pdfReader) tree(node pdf.Value, above []pdf.Value, depth int) error {
	if err := p.out.ctx.Err(); err != nil {
		return err
	}
	if p.nodes++; depth > min(p.limits.Depth, 100) || p.nodes > maxPDFNodes || p.pages > p.limits.PDFPages {
		return fmt.Errorf("%w: the tree of pages of the PDF is too deep, too large, or leads back to itself", ErrLimit)
	}
	kids := node.Key("Kids")
	if kids.Kind() != pdf.Array {
		if node.Kind() != pdf.Dict {
			return nil
		}
		p.pages++
		return p.page(node, append(above, node))
	}
	for i := range kids.Len() {
		if err := p.tree(kids.Index(i), append(above, node), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// page writes one page. One that is damaged is noted, and the next one read.
func (p *pdfReader) page(page pdf.Value, chain []pdf.Value) error {
	if err := p.out.line(); err != nil {
		return err
	}
	if err := p.out.write(fmt.Sprintf("[page %d]\n", p.pages)); err != nil {
		return err
	}
	out := p.out
	p.out = &writer{limit: out.limit - out.b.Len(), ctx: out.ctx, operators: out.operators}
	err := p.content(page, chain)
	if err == nil {
		err = p.annotations(page)
	}
	painted := p.out
	p.out = out
	out.operators, out.unknown = painted.operators, out.unknown+painted.unknown
	for _, note := range painted.notes {
		out.note("%s", note)
	}
	if err := out.write(painted.hand.logical(painted.b.String())); err != nil {
		return err
	}
	var stopped stop
	switch {
	case errors.As(err, &stopped):
		return stopped.error
	case err != nil:
		p.out.note("page %d is damaged: %.200v", p.pages, err)
	case painted.b.Len() == 0:
		p.empty++
	}
	return nil
}

// recovered makes an error of a parser's panic.
func (p *pdfReader) recovered(err *error) {
	switch r := recover().(type) {
	case nil:
	case stop:
		*err = r
	default:
		if ended := p.out.ctx.Err(); ended != nil {
			*err = stop{ended}
			return
		}
		*err = fmt.Errorf("%v", r)
	}
}

// content is what a page shows. Resources that it lacks are those of the nodes
// above it.
func (p *pdfReader) content(page pdf.Value, chain []pdf.Value) (err error) {
	defer p.recovered(&err)
	contents := page.Key("Contents")
	if k := contents.Kind(); k != pdf.Stream && k != pdf.Array {
		return nil
	}
	var resources pdf.Value
	for i := len(chain) - 1; i >= 0 && resources.IsNull(); i-- {
		resources = chain[i].Key("Resources")
	}
	newPainter(p.out, resources, &place{}, identity(), 0).paint(contents)
	return nil
}

// stop ends the reading of a PDF from inside of the parser, which knows no
// other way than a panic.
type stop struct{ error }

func (s stop) Unwrap() error { return s.error }

// readerAt ends with a context, and when a file has been read many times over: a
// parser that goes round in circles does that.
type readerAt struct {
	ctx context.Context //nolint:containedctx // it lives as long as one Read
	r   io.ReaderAt

	left  int64 // bytes that may still be read
	least int   // what a read counts as
}

func (r *readerAt) ReadAt(p []byte, off int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.ReadAt(p, off)
	if r.left -= int64(max(n, r.least)); r.left < 0 {
		return 0, fmt.Errorf("%w: the parts of the PDF lead in circles", ErrLimit)
	}
	return n, err
}
