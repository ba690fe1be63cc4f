package document_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/turnkeel/turnkeel/internal/document"
)

// wide is a text in UTF-16, little end first, with its mark.
func wide(text string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// Y22: what programs really write, and the standards allow.
func TestRead_AsProgramsWrite(t *testing.T) {
	t.Parallel()
	hello := pagesPDF(stream("", "BT /F1 12 Tf 72 700 Td (hello) Tj ET"))
	for _, tt := range []struct {
		name, file string
		data       []byte
		want       string
	}{
		{"a PDF after other bytes", "a.pdf", append([]byte("\r\nmail\x00\n"), hello...), "[page 1]\nhello"},
		{"a PDF before blanks", "a.pdf", append(hello[:len(hello):len(hello)], bytes.Repeat([]byte("\n"), 3000)...), "[page 1]\nhello"},
		{"a PDF before a page of HTML", "a.pdf", append(hello[:len(hello):len(hello)], strings.Repeat("<html>", 1000)...), "[page 1]\nhello"},
		{"tab stops", "a.docx", docxOf(t, `<w:p><w:pPr><w:tabs><w:tab w:pos="1"/></w:tabs></w:pPr><w:r><w:t>x</w:t><w:tab/><w:t>y</w:t></w:r></w:p>`), "x\ty"},
		{"moved text", "a.docx", docxOf(t, `<w:moveFrom>`+paragraph("m")+`</w:moveFrom><w:moveTo>`+paragraph("m")+`</w:moveTo>`), "m"},
		{"another main part", "a.docx", zipOf(t, "_rels/.rels", `<Relationships><Relationship Type="`+relationships+`/officeDocument" Target="/word/document2.xml"/></Relationships>`,
			"word/document2.xml", wordHead+paragraph("x")+wordTail), "x"},
		{"XML in UTF-16", "a.docx", zipOf(t, "word/document.xml", wide(strings.Replace(wordHead, "UTF-8", "utf-16", 1)+paragraph("Grüße 😀")+wordTail)), "Grüße 😀"},
		{"Excel's escapes", "a.xlsx", xlsxOf(t, `<row><c t="s"><v>0</v></c><c t="inlineStr"><is><t>c_x000A_d _x12 _x005F_x0041_</t></is></c></row>`, "<si><t>a_x000D_\nb</t></si>"), "[sheet Sales & Co]\na b\tc d _x12 _x0041_"},
		{"Excel's first days", "a.xlsx", xlsxOf(t, `<row><c s="1"><v>1</v></c><c s="1"><v>59</v></c><c s="1"><v>61</v></c></row>`, ""), "[sheet Sales & Co]\n1900-01-01\t1900-02-28\t1900-03-01"},
		{"other control characters", "a.txt", []byte("a\u0085\u009bb"), "ab"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := document.Read(t.Context(), tt.file, tt.data, document.Limits{})
			if err != nil || got.Text != tt.want {
				t.Errorf("%q, %v\nwant %q", got.Text, err, tt.want)
			}
		})
	}
}

// Y22: a text that JSON writes longer comes back whole.
func TestIsolated_LongestAnswer(t *testing.T) {
	t.Parallel()
	for _, of := range []string{"<", `"`, "\u2028"} {
		data := []byte(strings.Repeat(of, document.MaxBytes/len(of)))
		got, err := isolated(t).Read(t.Context(), "a.txt", data)
		if err != nil || got.Text != string(data) {
			t.Errorf("%q: %d of %d bytes, %v", of, len(got.Text), len(data), err)
		}
	}
}

// Y22: tables of a PDF that lead back to themselves, and a password, are told
// without waiting for the time to pass.
func TestRead_RefusesEarly(t *testing.T) {
	t.Parallel()
	files := hostile(t)
	if _, err := document.Read(t.Context(), "prev.pdf", files["prev.pdf"], document.Limits{}); err == nil || !strings.Contains(err.Error(), "circles") {
		t.Errorf("prev.pdf: %v", err)
	}
	locked := docxOf(t, paragraph("x"))
	for _, head := range []struct {
		is string
		at int
	}{{"PK\x03\x04", 6}, {"PK\x01\x02", 8}} {
		for at := 0; ; {
			next := bytes.Index(locked[at:], []byte(head.is))
			if next < 0 {
				break
			}
			at += next + head.at
			locked[at] |= 1
		}
	}
	if _, err := document.Read(t.Context(), "a.docx", locked, document.Limits{}); !errors.Is(err, document.ErrUnsupported) || !strings.Contains(err.Error(), "password") {
		t.Errorf("encrypted: %v", err)
	}
}
