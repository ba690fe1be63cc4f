package document_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/internal/document"
)

func pngOf(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 640, 480))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Y22: what each kind of file says.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file string
		data       []byte
		kind, want string
	}{
		{"text", "a.txt", []byte("\xef\xbb\xbfone\r\ntwo\rthree\x00"[:len("\xef\xbb\xbfone\r\ntwo\rthree")]), "text/plain", "one\ntwo\nthree"},
		{"UTF-16", "a.txt", []byte("\xff\xfeh\x00i\x00"), "text/plain", "hi"},
		{"Windows-1252", "a.csv", []byte("caf\xe9;\x80 5"), "text/csv", "café;€ 5"},
		{"CSV", "a.CSV", []byte("a,b\n1,\"x,y\"\n"), "text/csv", "a,b\n1,\"x,y\""},
		{"JSON", "a.json", []byte(`{"n":9007199254740993}`), "application/json", `{"n":9007199254740993}`},
		{"HTML", "a.html", []byte("<!doctype html><html><head><title>T &amp; U</title><style>p{}</style></head><body><p>Hello <b>wor</b>ld</p><script>alert('<p>no</p>')</script><ul><li>one<li>two</ul><table><tr><td>a</td><td>b</td></tr></table>"),
			"text/html", "T & U\nHello world\n- one\n- two\na\tb"},
		{"image", "a.png", pngOf(t), "image/png", "[an image: image/png, 640 × 480 pixels, "},
		{"Word", "a.docx", docxOf(t, paragraph("Invoice &amp; terms")+
			`<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:delText>gone</w:delText><w:t xml:space="preserve"> c</w:t></w:r></w:p>`+
			`<mc:AlternateContent><mc:Choice><w:p><w:t>box</w:t></w:p></mc:Choice><mc:Fallback><w:p><w:t>box</w:t></w:p></mc:Fallback></mc:AlternateContent>`+
			`<w:tbl><w:tr><w:tc><w:p><w:t>x</w:t></w:p></w:tc><w:tc><w:p><w:t>y</w:t></w:p></w:tc></w:tr></w:tbl>`),
			"wordprocessingml", "Invoice & terms\na\tb\n c\nbox\nx \ty"},
		{"Excel", "a.xlsx", xlsxOf(t, `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>in line</t></is></c></row>`+
			`<row r="2"><c r="A2" s="1"><v>45291</v></c><c r="B2" s="2"><v>45291.75</v></c><c r="C2" s="3"><v>12.5</v></c><c r="D2" t="b"><v>1</v></c><c r="E2" t="e"><v>#N/A</v></c></row>`+
			`<row r="9"><c r="XFD9"><f>SUM(A1)</f><v>7</v></c></row>`, `<si><r><t>Na</t></r><r><t>me</t></r><rPh><t>nope</t></rPh></si>`),
			"spreadsheetml", "[sheet Sales & Co]\nName\t\tin line\n2023-12-31\t2023-12-31 18:00:00\t12.5\tTRUE\t#N/A\n\t[XFD9] 7"},
		{"PowerPoint", "a.pptx", zipOf(t,
			"ppt/presentation.xml", `<p:presentation xmlns:p="p" xmlns:r="`+relationships+`"><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/></p:sldIdLst></p:presentation>`,
			"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="rId1" Target="slides/slide1.xml"/><Relationship Id="rId2" Target="/ppt/slides/slide2.xml"/></Relationships>`,
			"ppt/slides/slide1.xml", `<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>second</a:t></a:r></a:p></p:sld>`,
			"ppt/slides/slide2.xml", `<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>first</a:t></a:r></a:p></p:sld>`),
			"presentationml", "[slide 1]\nfirst\n[slide 2]\nsecond"},
		{"PDF", "a.pdf", pagesPDF(stream("", `BT /F1 12 Tf 72 700 Td (Total: ) Tj (42) Tj 0 -14 Td [(Kern)-20(ed)-400(words)] TJ T* (caf\351) ' ET`), deflated([]byte("BT /F1 12 Tf (Second) Tj ET"))),
			"application/pdf", "[page 1]\nTotal: 42\nKerned words\ncafé\n[page 2]\nSecond"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := document.Read(t.Context(), tt.file, tt.data, document.Limits{})
			if err != nil || !strings.Contains(got.Type, tt.kind) || !strings.HasPrefix(got.Text, tt.want) {
				t.Errorf("%s %q, %v\nwant %q", got.Type, got.Text, err, tt.want)
			}
		})
	}
}

// Y22: no OCR, and it is said so.
func TestRead_ScannedPages(t *testing.T) {
	t.Parallel()
	got, err := document.Read(t.Context(), "scan.pdf", pagesPDF(stream("", "q 100 0 0 100 0 0 cm /Im1 Do Q"), stream("", "BT /F1 9 Tf (text) Tj ET")), document.Limits{})
	if err != nil || !strings.Contains(got.WithNotes(), "[note: 1 of 2 pages of the PDF hold no text; they may be scanned images, which are not read: there is no OCR]") {
		t.Errorf("%+v, %v", got, err)
	}
}

// Y22: what cannot be read is an error that says what to do.
func TestRead_Refuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file string
		data       []byte
		is         error
		want       string
	}{
		{"empty", "a.txt", nil, document.ErrUnsupported, "it is empty"},
		{"too large", "a.txt", make([]byte, document.MaxBytes+1), document.ErrTooLarge, "at most 15728640"},
		{"binary", "a.txt", []byte("\x7fELF\x00\x01\x02"), document.ErrUnsupported, "pdf, docx"},
		{"another archive", "a.zip", zipOf(t, "a.txt", "x"), document.ErrUnsupported, "a zip archive"},
		{"an old Office file", "a.doc", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest"), document.ErrUnsupported, "save it as docx"},
		{"a cut archive", "a.docx", docxOf(t, paragraph("x"))[:120], nil, "damaged"},
		{"a cut PDF", "a.pdf", pagesPDF(stream("", "BT ET"))[:200], nil, "damaged"},
		{"broken XML", "a.docx", docxOf(t, "<w:p><w:t>x</w:p>"), nil, "damaged"},
		{"a PDF without pages", "a.pdf", pdfOf("<</Type/Catalog>>"), nil, "no pages"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := document.Read(t.Context(), tt.file, tt.data, document.Limits{})
			if err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// A text that is too long is cut at its limit, inside of no rune, and says so.
func TestRead_Cuts(t *testing.T) {
	t.Parallel()
	limits := document.DefaultLimits
	limits.TextBytes = 1001
	got, err := document.Read(t.Context(), "a.txt", []byte(strings.Repeat("ä", 2_000)), limits)
	if err != nil || got.Text != strings.Repeat("ä", 500) || len(got.Notes) != 1 {
		t.Errorf("%d bytes, %q, %v", len(got.Text), got.Notes, err)
	}
}

// A caller that goes away ends the reading.
func TestRead_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	big := docxOf(t, strings.Repeat(paragraph("x"), 10_000))
	for name, data := range map[string][]byte{"a.docx": big, "a.pdf": pagesPDF(stream("", "BT (x) Tj ET"))} {
		if _, err := document.Read(ctx, name, data, document.Limits{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
