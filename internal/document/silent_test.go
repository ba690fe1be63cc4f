package document_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/turnkeel/turnkeel/internal/document"
)

// bare is a text in UTF-16 without a mark.
func bare(text string, big bool) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return b
}

// Y22: a text is what it is, whatever its first letters, its name or its
// encoding are like; what is not read exactly is noted.
func TestRead_TextOfAnyEncoding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file string
		data       []byte
		want, note string // note: a part of the notes; "" for none
	}{
		{"begins as a bitmap does", "cars.csv", []byte("BMW 320d;42\nBMW X5;7\n"), "BMW 320d;42\nBMW X5;7", ""},
		{"begins as a bitmap does, in Windows-1252", "cars.csv", []byte("BMW f\xfcr alle;42\n"), "BMW für alle;42", "Windows-1252"},
		{"begins as a GIF does", "a.txt", []byte("GIF89a is a format"), "GIF89a is a format", ""},
		{"speaks of PDFs", "notes.md", []byte("A file begins with %PDF-1.7 and ends.\n"), "A file begins with %PDF-1.7 and ends.", ""},
		{"begins with a PDF's header", "notes.txt", []byte("%PDF-1.7 is a header"), "%PDF-1.7 is a header", ""},
		{"UTF-16 without a mark", "a.csv", bare("Name;Größe\n1;2\n", false), "Name;Größe\n1;2", "UTF-16"},
		{"UTF-16 without a mark, big end first", "a.csv", bare("Name;Größe\n1;2\n", true), "Name;Größe\n1;2", "UTF-16"},
		{"UTF-16 cut in a character", "a.txt", []byte("\xff\xfeh\x00i\x00\x61"), "hi\ufffd", "1 characters"},
		{"UTF-32", "a.txt", []byte("\xff\xfe\x00\x00h\x00\x00\x00\x00\xf6\x01\x00"), "h\U0001f600", ""},
		{"UTF-8 with one wrong byte", "a.txt", []byte("Ärger über Öl \xff größer"), "Ärger über Öl \ufffd größer", "not UTF-8"},
		{"HTML that names its encoding", "a.html", []byte("<html><head><meta charset=shift_jis></head><p>\x93\xfa\x96{\x8c\xea</p>"), "日本語", ""},
		{"a no-break space beside a tag", "a.html", []byte("<p><b>Total:</b>&nbsp;42&nbsp;<i>EUR</i></p>"), "Total: 42 EUR", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := document.Read(t.Context(), tt.file, tt.data, document.Limits{})
			notes := strings.Join(got.Notes, "\n")
			if err != nil || got.Text != tt.want || !strings.Contains(notes, tt.note) || (tt.note == "") != (notes == "") {
				t.Errorf("%q, %q, %v\nwant %q, %q", got.Text, notes, err, tt.want, tt.note)
			}
		})
	}
}

// Y22: what would be read as gibberish is refused with what to do.
func TestRead_OtherFormats(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file string
		data []byte
		want string
	}{
		{"a.rtf", []byte(`{\rtf1\ansi Hello}`), "save it as docx or pdf"},
		{"a.doc", []byte(`{\rtf1\ansi Hello}`), "save it as docx or pdf"},
		{"a.ps", []byte("%!PS-Adobe-3.0\n(x) show"), "save it as pdf"},
		{"a.odt", zipOf(t, "mimetype", "application/vnd.oasis.opendocument.text", "content.xml", "<x/>"), "OpenDocument"},
		{"a.xlsb", zipOf(t, "_rels/.rels", `<Relationships><Relationship Type="`+relationships+`/officeDocument" Target="xl/workbook.bin"/></Relationships>`, "xl/workbook.bin", "\x83\x01\x00"), "binary Office file"},
		{"nested.zip", zipOf(t, "inner.docx", string(docxOf(t, paragraph("x")))), "a zip archive"},
	} {
		got, err := document.Read(t.Context(), tt.file, tt.data, document.Limits{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q, %v, want %q", tt.file, got.Text, err, tt.want)
		}
	}
}

// Y22: a cell's text, formula or length of time is never left out silently.
func TestRead_Workbooks(t *testing.T) {
	t.Parallel()
	renamed := zipOf(t,
		"xl/workbook.xml", `<workbook xmlns:r="`+relationships+`"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="rId1" Target="Worksheets\Sheet1.xml"/><Relationship Id="r2" Type="`+relationships+`/sharedStrings" Target="strings.xml"/></Relationships>`,
		"xl/strings.xml", "<sst><si><t>text</t></si></sst>",
		`xl\worksheets\sheet1.xml`, `<worksheet><sheetData><row><c t="s"><v>0</v></c></row></sheetData></worksheet>`)
	for _, tt := range []struct {
		name string
		data []byte
		want string // the text, or a part of the error
		note string
	}{
		{"formulas without values", xlsxOf(t, `<row><c><v>2</v></c><c><f>SUM(A1:A1)</f></c><c><f t="shared" si="0"/></c><c><f>A1&amp;"x"</f><v>7</v></c><c t="str"><f>""</f><v></v></c></row>`, ""), "[sheet Sales & Co]\n2\t=SUM(A1:A1)\t=\t7", "2 formulas"},
		{"parts of other names", renamed, "[sheet S]\ntext", ""},
		{"a shared text that is missing", xlsxOf(t, `<row><c t="s"><v>7</v></c></row>`, "<si><t>x</t></si>"), "a cell shows the text", ""},
		{"how a text is pronounced", xlsxOf(t, `<row><c t="inlineStr"><is><t>東京</t><rPh><t>トウキョウ</t></rPh></is></c></row>`, ""), "[sheet Sales & Co]\n東京", ""},
	} {
		got, err := document.Read(t.Context(), "a.xlsx", tt.data, document.Limits{})
		if err != nil {
			got.Text = err.Error()
		}
		notes := strings.Join(got.Notes, "\n")
		if err == nil && got.Text != tt.want || !strings.Contains(got.Text, tt.want) || !strings.Contains(notes, tt.note) || (tt.note == "") != (notes == "") {
			t.Errorf("%s: %q, %q, %v\nwant %q, %q", tt.name, got.Text, notes, err, tt.want, tt.note)
		}
	}
}

// Y22: hours beyond a day are not the hour of some day.
func TestRead_LengthsOfTime(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"[h]:mm": "26:00:00", "[HH]:MM": "26:00:00", "[hh]:mm:ss": "26:00:00", "[mm]:ss": "26:00:00", "[Red]0.00": "1.0833333333333333", "h:mm": "1900-01-01 02:00:00", "0.0*s": "1.0833333333333333", "[$-409]0": "1.0833333333333333",
	} {
		data := zipOf(t,
			"xl/workbook.xml", `<workbook xmlns:r="`+relationships+`"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
			"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>`,
			"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="`+format+`"/></numFmts><cellXfs><xf numFmtId="170"/></cellXfs></styleSheet>`,
			"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row><c s="0"><v>1.0833333333333333</v></c></row></sheetData></worksheet>`)
		got, err := document.Read(t.Context(), "a.xlsx", data, document.Limits{})
		if err != nil || got.Text != "[sheet S]\n"+want {
			t.Errorf("%s: %q, %v, want %q", format, got.Text, err, want)
		}
	}
}

// Y22: all that Word shows is read, or it is noted that it is not.
func TestRead_WordParts(t *testing.T) {
	t.Parallel()
	rel := func(id, kind, target string) string {
		return `<Relationship Id="` + id + `" Type="` + relationships + "/" + kind + `" Target="` + target + `"/>`
	}
	data := zipOf(t,
		"word/document.xml", wordHead+`<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>Due</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:del><w:r><w:tab/><w:delText>gone</w:delText></w:r></w:del><w:r><w:sym w:char="2611"/></w:r></w:p>`+
			`<w:p><w:drawing><a:blip/></w:drawing></w:p><w:altChunk/>`+wordTail,
		"word/_rels/document.xml.rels", `<Relationships>`+rel("1", "header", "header1.xml")+rel("2", "footer", "footer1.xml")+rel("3", "footnotes", "notes.xml")+rel("4", "comments", "comments.xml")+rel("5", "header", "header2.xml")+`</Relationships>`,
		"word/header1.xml", "<hdr>"+paragraph("ACME")+"</hdr>", "word/header2.xml", "<hdr><w:p/></hdr>",
		"word/footer1.xml", "<ftr>"+paragraph("Page")+"</ftr>",
		"word/notes.xml", `<f><w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote><w:footnote w:id="2">`+paragraph("in 30 days")+`</w:footnote></f>`,
		"word/comments.xml", "<c><comment>"+paragraph("really?")+"</comment></c>")
	got, err := document.Read(t.Context(), "a.docx", data, document.Limits{})
	if want := "[header]\nACME\nDue[^2]☑\n\n[^2] in 30 days\n[comments]\nreally?\n[footer]\nPage"; err != nil || strings.ReplaceAll(got.Text, "\n\n\n", "\n\n") != want {
		t.Errorf("%q, %v\nwant %q", got.Text, err, want)
	}
	for _, want := range []string{"1 pictures", "1 documents", "1 paragraphs are numbered"} {
		if !strings.Contains(strings.Join(got.Notes, "\n"), want) {
			t.Errorf("%q is not in %q", want, got.Notes)
		}
	}
}
