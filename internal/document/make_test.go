package document_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
)

// zipOf makes an archive of names and contents.
func zipOf(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(parts[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const (
	wordHead = `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="w" xmlns:mc="mc"><w:body>`
	wordTail = `</w:body></w:document>`
)

func docxOf(t testing.TB, body string) []byte {
	t.Helper()
	return zipOf(t, "[Content_Types].xml", "<Types/>", "word/document.xml", wordHead+body+wordTail)
}

func paragraph(text string) string { return "<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>" }

const relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

// xlsxOf makes a workbook of one sheet with these rows.
func xlsxOf(t testing.TB, rows, shared string) []byte {
	t.Helper()
	return zipOf(t,
		"xl/workbook.xml", `<workbook xmlns:r="`+relationships+`"><sheets><sheet name="Sales &amp; Co" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/sharedStrings.xml", "<sst>"+shared+"</sst>",
		"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="yyyy&quot;-&quot;mm"/><numFmt numFmtId="171" formatCode="0.0 &quot;days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml", "<worksheet><sheetData>"+rows+"</sheetData></worksheet>")
}

// pdfOf makes a PDF of objects, numbered from 1; the first is the catalogue.
func pdfOf(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	places := make([]int, len(objects))
	for i, o := range objects {
		places[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range places {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

func stream(dict, data string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(data), data)
}

// deflated is a compressed stream.
func deflated(data []byte) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return stream("/Filter/FlateDecode", b.String())
}

const (
	catalog = "<</Type/Catalog/Pages 2 0 R>>"
	helv    = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
)

// pagesPDF is a PDF with a page for each content, an object as [stream] makes.
func pagesPDF(contents ...string) []byte {
	var kids []string
	objects := []string{catalog, "", helv}
	for _, c := range contents {
		page := len(objects) + 1
		kids = append(kids, fmt.Sprintf("%d 0 R", page))
		objects = append(objects, fmt.Sprintf("<</Type/Page/Parent 2 0 R/Contents %d 0 R>>", page+1), c)
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d/Resources<</Font<</F1 3 0 R>>>>>>", strings.Join(kids, " "), len(kids))
	return pdfOf(objects...)
}
