package document_test

import (
	"fmt"
	"testing"

	"github.com/turnkeel/turnkeel/internal/document"
)

// fontPDF is a page with that content and the font objects as 5 0 R and up.
func fontPDF(content string, fonts ...string) []byte {
	return pdfOf(append([]string{catalog, "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>", stream("", content)}, fonts...)...)
}

// Y22: words and lines of a PDF are where programs put them, each in its way.
func TestRead_PDFLayout(t *testing.T) {
	t.Parallel()
	widths := ""
	for range 224 {
		widths += "500 "
	}
	simple := "<</Type/Font/Subtype/Type1/BaseFont/X/Encoding/WinAnsiEncoding/FirstChar 32/Widths[" + widths + "]>>"
	composite := []string{
		"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/ToUnicode 6 0 R/DescendantFonts[7 0 R]>>",
		stream("", "1 begincodespacerange <0000> <ffff> endcodespacerange 4 beginbfchar <0001> <004D> <0002> <0069> <0003> <FB01> <0004> <0009> endbfchar"),
		"<</Type/Font/Subtype/CIDFontType2/DW 250/W[1[900] 3 3 600]>>",
	}
	for _, tt := range []struct {
		name, content string
		fonts         []string
		want          string
	}{
		{"each line under its own matrix", "q 1 0 0 1 72 700 cm BT /F1 10 Tf (one) Tj ET Q q 1 0 0 1 72 680 cm BT /F1 10 Tf (two) Tj ET Q", nil, "one\ntwo"},
		{"two columns, each in its text object", "BT /F1 10 Tf 1 0 0 1 72 700 Tm 12 TL (left) Tj T* ET BT 1 0 0 1 300 700 Tm (right) Tj T* ET", nil, "left right"},
		{"moved twice before it is shown", "BT /F1 10 Tf 72 700 Td (a) Tj 0 -12 Td 5 12 Td (b) Tj ET", nil, "ab"},
		{"a space by the distance of two glyphs", "BT /F1 10 Tf 72 700 Td (bold) Tj 2.5 Tc 20 0 Td (,e) Tj 0 Tc 12.5 0 Td (nd) Tj ET", nil, "bold, end"},
		{"letters set apart", "BT /F1 10 Tf 72 700 Td 3 Tc (heading) Tj ET", nil, "heading"},
		{"words set apart", "BT /F1 10 Tf 72 700 Td 20 Tw (a b) Tj 0 Tw 35 0 Td (c) Tj ET", nil, "a bc"},
		{"raised text", "BT /F1 10 Tf 72 700 Td (x) Tj /F1 6 Tf 5 4 Td (2) Tj /F1 10 Tf 3 -4 Td (+ y) Tj ET", nil, "x2+ y"},
		{"turned by a quarter", "BT /F1 10 Tf 0 1 -1 0 100 100 Tm (up) Tj 15 0 Td (wards) Tj 0 -12 Td (next) Tj ET", nil, "up wards\nnext"},
		{"very small units", "q .1 0 0 .1 0 0 cm BT /F1 100 Tf 720 5000 Td (a) Tj 0 -120 Td (b) Tj ET Q", nil, "a\nb"},
		{"glyphs one by one, of two bytes", "BT /F1 10 Tf 1 0 0 -1 0 0 Tm 72 -700 Td <0001> Tj 9 0 Td <0002> Tj 2.5 0 Td <0004> Tj 2.5 0 Td <0003> Tj 6 0 Td <0002> Tj ET", composite, "Mi fii"},
		{"a gap in the first array of a line", "BT /F1 10 Tf 72 700 Td (one) Tj 0 -12 Td [-500 (two) -300 (three)] TJ ET", nil, "one\ntwo three"},
		{"a matrix of no size", "BT /F1 10 Tf 0 0 0 0 0 0 Tm (a) Tj (b) Tj ET", nil, "ab"},
		{"restored without having been saved", "Q Q BT /F1 10 Tf (a) Tj ET q", nil, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fonts := tt.fonts
			if fonts == nil {
				fonts = []string{simple}
			}
			got, err := document.Read(t.Context(), "a.pdf", fontPDF(tt.content, fonts...), document.Limits{})
			if want := "[page 1]\n" + tt.want; err != nil || got.Text != want || len(got.Notes) > 0 {
				t.Errorf("%q, %q, %v\nwant %q", got.Text, got.Notes, err, want)
			}
		})
	}
}

// A form stands where its matrix puts it.
func TestRead_PDFForms(t *testing.T) {
	t.Parallel()
	page := func(matrix string) []byte {
		return pdfOf(catalog, "<</Type/Pages/Kids[3 0 R]/Count 1>>",
			"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>/XObject<</A 6 0 R>>>>>>",
			stream("", "BT /F1 10 Tf 72 700 Td (page) Tj ET /A Do"), helv, stream("/Subtype/Form"+matrix, "BT /F1 10 Tf 72 700 Td (form) Tj ET"))
	}
	for matrix, want := range map[string]string{"/Matrix[1 0 0 1 100 0]": "page form", "/Matrix[1 0 0 1 0 -20]": "page\nform"} {
		got, err := document.Read(t.Context(), "a.pdf", page(matrix), document.Limits{})
		if want = fmt.Sprintf("[page 1]\n%s", want); err != nil || got.Text != want {
			t.Errorf("%s: %q, %v, want %q", matrix, got.Text, err, want)
		}
	}
}
