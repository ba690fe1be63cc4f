package document

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/text/encoding/unicode"
)

// archive is an Office file: a zip of XML parts, of which only those that hold
// text are inflated, and together no more than the budget.
type archive struct {
	files  map[string]*zip.File // by key
	budget int64                // bytes that may still be inflated
	limits Limits
}

func openArchive(data []byte, limits Limits) (*archive, error) {
	if n := bytes.Count(data, []byte("PK\x01\x02")); n > limits.Entries { // before anything is kept of each
		return nil, fmt.Errorf("%w: the archive has %d entries, at most %d are read", ErrLimit, n, limits.Entries)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // nothing is written anywhere
		return nil, fmt.Errorf("the file is damaged: %w", err)
	}
	a := &archive{files: make(map[string]*zip.File, len(z.File)), budget: limits.Inflated, limits: limits}
	for _, f := range z.File {
		a.files[key(f.Name)] = f
	}
	return a, nil
}

// key is a part's name as names are compared: their letters' case does not
// count, and some programs write them as a path of Windows.
func key(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/"))
}

func (a *archive) has(name string) bool { return a.files[key(name)] != nil }

// handler is told what a part holds. Its errors end the walk.
type handler struct {
	start func(xml.StartElement) error
	end   func(xml.EndElement) error
	text  func(string) error
}

// walk reads the XML of a part. A document type is refused: no Office file has
// one, and entities are declared there.
func (a *archive) walk(name string, h handler) error {
	f := a.files[key(name)]
	if f == nil {
		return fmt.Errorf("the file is damaged: its part %.100s is missing", name)
	}
	if f.UncompressedSize64 > uint64(max(0, a.budget)) { // it may say less than is true: then inflating finds out
		return inflatesTooMuch(a.limits.Inflated)
	}
	if f.Flags&1 != 0 {
		return fmt.Errorf("%w: it is encrypted with a password; save it without one", ErrUnsupported)
	}
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("the file is damaged: part %.100s: %w", name, err)
	}
	defer r.Close() //nolint:errcheck // it was read from memory
	d := decoderOf(&inflating{r: r, budget: &a.budget, limit: a.limits.Inflated})
	for depth := 0; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the file is damaged: part %.100s: %w", name, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > a.limits.Depth {
				return fmt.Errorf("%w: part %.100s nests elements deeper than %d", ErrLimit, name, a.limits.Depth)
			}
			err = call(h.start, t)
		case xml.EndElement:
			depth--
			err = call(h.end, t)
		case xml.CharData:
			if h.text != nil {
				err = h.text(string(t))
			}
		case xml.Directive:
			return fmt.Errorf("%w: part %.100s declares a document type", ErrLimit, name)
		}
		if err != nil {
			return err
		}
	}
}

// decoderOf reads XML in UTF-8, or in UTF-16 with its mark, which is all that an
// Office file may be in.
func decoderOf(r io.Reader) *xml.Decoder {
	buffered := bufio.NewReader(r)
	mark, _ := buffered.Peek(2)
	wide := bytes.Equal(mark, []byte{0xff, 0xfe}) || bytes.Equal(mark, []byte{0xfe, 0xff})
	var in io.Reader = buffered
	if wide {
		in = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(buffered)
	}
	d := xml.NewDecoder(in)
	d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		if wide && strings.EqualFold(charset, "UTF-16") {
			return in, nil
		}
		return nil, fmt.Errorf("%w: XML in %.40s", ErrUnsupported, charset)
	}
	return d
}

func call[T any](f func(T) error, v T) error {
	if f == nil {
		return nil
	}
	return f(v)
}

func inflatesTooMuch(limit int64) error {
	return fmt.Errorf("%w: what holds its text inflates to more than %d bytes", ErrLimit, limit)
}

// inflating takes what it reads out of a budget.
type inflating struct {
	r      io.Reader
	budget *int64
	limit  int64
}

func (i *inflating) Read(p []byte) (int, error) {
	if *i.budget <= 0 {
		return 0, inflatesTooMuch(i.limit)
	}
	n, err := i.r.Read(p[:min(int64(len(p)), *i.budget)])
	*i.budget -= int64(n)
	return n, err
}

// relation is what a part says of another one.
type relation struct{ id, kind, target string }

// related are the parts that a part names, in its order; none when it names none.
func (a *archive) related(part string) ([]relation, error) {
	dir, file := path.Split(part)
	name := dir + "_rels/" + file + ".rels"
	if !a.has(name) {
		return nil, nil
	}
	var found []relation
	err := a.walk(name, handler{start: func(e xml.StartElement) error {
		if e.Name.Local != "Relationship" || attr(e, "TargetMode") == "External" {
			return nil
		}
		target := strings.ReplaceAll(attr(e, "Target"), `\`, "/")
		if !strings.HasPrefix(target, "/") {
			target = path.Join(dir, target)
		}
		found = append(found, relation{attr(e, "Id"), path.Base(attr(e, "Type")), strings.TrimPrefix(path.Clean(target), "/")})
		return nil
	}})
	return found, err
}

// relations are the targets of a part by their id.
func (a *archive) relations(part string) (map[string]string, error) {
	found, err := a.related(part)
	targets := map[string]string{}
	for _, r := range found {
		targets[r.id] = r.target
	}
	return targets, err
}

// relatedOf are the parts of a kind that a part names and the archive has, else
// the usual one.
func (a *archive) relatedOf(part, kind, usual string) ([]string, error) {
	found, err := a.related(part)
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, r := range found {
		if r.kind == kind && a.has(r.target) {
			parts = append(parts, r.target)
		}
	}
	if len(parts) == 0 && usual != "" && a.has(usual) {
		parts = []string{usual}
	}
	return parts, nil
}

// attr is an attribute by its local name, "" when it is missing.
func attr(e xml.StartElement, local string) string {
	for _, a := range e.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}

// relationID is the attribute r:id, which has an id beside it in some elements.
func relationID(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && strings.HasSuffix(a.Name.Space, "/relationships") {
			return a.Value
		}
	}
	return ""
}
