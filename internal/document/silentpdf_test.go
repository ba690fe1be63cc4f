package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/internal/document"
)

// Y22: what the codes of a PDF's fonts mean is said by the font, or it is noted
// that nobody knows: never the letters of another font.
func TestRead_PDFFonts(t *testing.T) {
	t.Parallel()
	simple := func(more string) []string {
		return []string{"<</Type/Font/Subtype/Type1/BaseFont/X" + more + ">>", stream("", "1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <41> <43> <0058> endbfrange")}
	}
	wide := func(encoding, more string) []string {
		return []string{"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/" + encoding + more + "/DescendantFonts[<</Subtype/CIDFontType2/DW 1000>>]>>",
			stream("", "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def 1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfrange <0041> <0043> [<4E2D> <6587> <00660069>] endbfrange endcmap end end")}
	}
	for _, tt := range []struct {
		name, content string
		fonts         []string
		want, note    string
	}{
		{"ToUnicode beside names", "(ABC) Tj", simple("/Encoding<</Differences[65/g1/g2/g3]>>/ToUnicode 6 0 R"), "XYZ", ""},
		{"ToUnicode beside WinAnsi", "(ABC) Tj", simple("/Encoding/WinAnsiEncoding/ToUnicode 6 0 R"), "XYZ", ""},
		{"ToUnicode that lacks a code", "(ABD) Tj", simple("/Encoding/WinAnsiEncoding/ToUnicode 6 0 R"), "XYD", ""},
		{"ToUnicode with the ranges of another font", "(ABC) Tj", []string{simple("/Encoding/WinAnsiEncoding/ToUnicode 6 0 R")[0], stream("", "1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfrange <41> <43> <0058> endbfrange")}, "XYZ", ""},
		{"names that mean nothing", "(ABC) Tj", simple("/Encoding<</Differences[65/g1/G36/C0_1]>>"), "\ufffd\ufffd\ufffd", "3 characters"},
		{"names", "(ABCDEFG) Tj", simple("/Encoding<</Differences[65/Euro/uni20AC/eacute/f_i/a.alt/D/quoteright]>>"), "€€éfiaD’", ""},
		{"a base beside names", `(\351\200A) Tj`, simple("/Encoding<</BaseEncoding/WinAnsiEncoding/Differences[65/alpha]>>"), "é€α", ""},
		{"Adobe's own encoding", `('\256\272\320\341) Tj`, simple(""), "’fi”—Æ", ""},
		{"the font Symbol", `(abG \267) Tj`, []string{"<</Type/Font/Subtype/Type1/BaseFont/Symbol>>"}, "αβΓ •", ""},
		{"the font of dingbats", `(ab) Tj`, []string{"<</Type/Font/Subtype/Type1/BaseFont/ZapfDingbats>>"}, "\ufffd\ufffd", "2 characters"},
		{"two bytes", "<004100420043> Tj", wide("Identity-H", "/ToUnicode 6 0 R"), "中文fi", ""},
		{"two bytes that mean nothing", "<00410042> Tj", wide("Identity-H", ""), "\ufffd\ufffd", "2 characters"},
		{"two bytes downwards", "<00410042> Tj", wide("Identity-V", "/ToUnicode 6 0 R"), "中文", ""},
		{"Japanese by its own encoding", "<93fa967b> Tj", wide("90ms-RKSJ-H", ""), "日本", ""},
		{"Chinese by its own encoding", "<d6d0cec4> Tj", wide("GBK-EUC-H", ""), "中文", ""},
		{"UTF-16", "<4E2D6587> Tj", wide("UniGB-UTF16-H", ""), "中文", ""},
		{"a map with a carry", "<00ff0100> Tj", []string{wide("Identity-H", "/ToUnicode 6 0 R")[0], stream("", "1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfrange <00ff> <0100> <00ff> endbfrange")}, "ÿĀ", ""},
		{"an image in the text", "(a) Tj ET BI /W 4 /H 1 /BPC 8 /CS /G ID (<[\x00 EI BT /F1 9 Tf (b) Tj", []string{helv}, "ab", ""},
		{"an image with EI in it", "(a) Tj ET BI /W 9/H 1/BPC 8/CS/G ID ( EI \x01\x02\x03\x04\nEI\nBT /F1 9 Tf (b) Tj", []string{helv}, "ab", ""},
		{"the letters BI", "(BI ID a EI) Tj", []string{helv}, "BI ID a EI", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := document.Read(t.Context(), "a.pdf", fontPDF("BT /F1 9 Tf "+tt.content+" ET", tt.fonts...), document.Limits{})
			notes := strings.Join(got.Notes, "\n")
			if want := "[page 1]\n" + tt.want; err != nil || got.Text != want || !strings.Contains(notes, tt.note) || (tt.note == "") != (notes == "") {
				t.Errorf("%q, %q, %v\nwant %q, %q", got.Text, notes, err, want, tt.note)
			}
		})
	}
}

// Y22: letters that are read from the right come in the order of reading,
// wherever the page has them.
func TestRead_PDFFromRightToLeft(t *testing.T) {
	t.Parallel()
	font := []string{
		"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/ToUnicode 6 0 R/DescendantFonts[<</Subtype/CIDFontType2/DW 600>>]>>",
		stream("", "1 begincodespacerange <0000> <ffff> endcodespacerange 3 beginbfrange <0020> <007e> <0020> <05d0> <05ea> <05d0> <fe8d> <feaa> <fe8d> endbfrange 1 beginbfchar <fefb> <06440627> endbfchar"),
	}
	glyphs := func(text string) string {
		s := ""
		for _, r := range text {
			s += fmt.Sprintf("%04x", r)
		}
		return "<" + s + ">"
	}
	for _, tt := range []struct{ name, content, want string }{
		{"as the eye meets it", "1 0 0 1 72 700 Tm " + glyphs("(\u05d2\u05d1) 42.50 \u05d0") + " Tj", "א 42.50 (בג)"},
		{"in the order of reading", "1 0 0 1 99 700 Tm " + glyphs("א") + " Tj 1 0 0 1 93.6 700 Tm " + glyphs("ב") + " Tj 1 0 0 1 86 700 Tm " + glyphs("ג") + " Tj", "אב ג"},
		{"among Latin letters", "1 0 0 1 72 700 Tm " + glyphs("Name: בא 7 ג, given") + " Tj", "Name: ג 7 אב, given"},
		{"Latin among them", "1 0 0 1 72 700 Tm " + glyphs("בא Word 97 דגה") + " Tj", "הגד Word 97 אב"},
		{"forms in a word", "1 0 0 1 72 700 Tm " + glyphs("\ufe8e\ufefb") + " Tj", "لاا"},
	} {
		got, err := document.Read(t.Context(), "a.pdf", fontPDF("BT /F1 9 Tf "+tt.content+" ET", font...), document.Limits{})
		if want := "[page 1]\n" + tt.want; err != nil || strings.ReplaceAll(got.Text, "\u200f", "") != want {
			t.Errorf("%s: %q, %v\nwant %q", tt.name, got.Text, err, want)
		}
	}
}

// Y22: the fields of a form and comments are read; several streams of a page are
// apart.
func TestRead_PDFFormsAndComments(t *testing.T) {
	t.Parallel()
	data := pdfOf(catalog, "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/Contents[4 0 R 5 0 R]/Resources<</Font<</F1 6 0 R>>>>/Annots[7 0 R 8 0 R 9 0 R 10 0 R 12 0 R]>>",
		stream("", "BT /F1 9 Tf 72 700 Td (one) Tj ET"), stream("", "BT /F1 9 Tf 72 600 Td (two) Tj ET"), helv,
		"<</Subtype/Widget/FT/Tx/T(total)/V(42 EUR)>>", "<</Subtype/Widget/Parent 11 0 R>>", "<</Subtype/Widget/Parent 11 0 R>>",
		"<</Subtype/Text/Contents<FEFF00DC0062006500720021>>>", "<</FT/Ch/T(place)/V[(Rome)(Oslo)]>>", "<</Subtype/Link/Contents(no)>>")
	got, err := document.Read(t.Context(), "a.pdf", data, document.Limits{})
	if want := "[page 1]\none\ntwo\n[field total: 42 EUR]\n[field place: Rome, Oslo]\n[comment: Über!]"; err != nil || got.Text != want || len(got.Notes) > 0 {
		t.Errorf("%q, %q, %v\nwant %q", got.Text, got.Notes, err, want)
	}
}
