package document

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// unknown stands for a glyph of which the font does not say what it means.
const unknown = "\ufffd"

// decoder says what the codes of a font's strings mean.
type decoder struct {
	toUnicode *codeMap     // says it first, if the font has one
	simple    *[256]string // of a font of one byte a glyph
	whole     func(raw string) string
}

// decode is the text of a string, and how many glyphs it has.
func (d *decoder) decode(raw string) (text string, glyphs int) {
	if d.toUnicode == nil && d.simple == nil {
		text = d.whole(raw)
		return text, utf8.RuneCountInString(text)
	}
	var b strings.Builder
	for len(raw) > 0 {
		size, said := 1, ""
		if d.toUnicode != nil {
			size, said = d.toUnicode.next(raw)
		}
		if said == "" && size == 1 && d.simple != nil {
			said = d.simple[raw[0]]
		}
		if said == "" {
			said = unknown
		}
		b.WriteString(asSeen(said))
		raw = raw[size:]
		glyphs++
	}
	return b.String(), glyphs
}

// asSeen is what a glyph means as the eye meets it: one that means several
// letters of those that are read from the right has them in the order of reading.
func asSeen(text string) string {
	if utf8.RuneCountInString(text) < 2 || !strings.ContainsFunc(text, rightward) {
		return text
	}
	letters := []rune(text)
	slices.Reverse(letters)
	return string(letters)
}

// newDecoder reads what a font says of its codes. What it does not say is
// unknown, never guessed from the codes of another font.
func newDecoder(font pdf.Value, composite bool) *decoder {
	d := &decoder{whole: everyPair}
	if v := font.Key("ToUnicode"); v.Kind() == pdf.Stream {
		if m := newCodeMap(v, composite); len(m.texts) > 0 {
			d.toUnicode = m
		}
	}
	encoded := font.Key("Encoding")
	if !composite {
		d.simple = simpleEncoding(font, encoded)
		return d
	}
	if e := wideEncoding(encoded.Name()); e != nil {
		d.whole = e
	}
	return d
}

// everyPair is the text of glyphs of two bytes that nobody knows.
func everyPair(raw string) string { return strings.Repeat(unknown, (len(raw)+1)/2) }

// wideEncoding is that of a font's CMap whose codes mean characters by
// themselves, nil for other ones.
func wideEncoding(name string) func(string) string {
	if strings.Contains(name, "-UCS2-") || strings.Contains(name, "-UTF16-") {
		return utf16Text
	}
	for _, e := range []struct {
		prefix string
		is     encoding.Encoding
	}{
		{"GBK2K-", simplifiedchinese.GB18030}, {"GB", simplifiedchinese.GBK}, {"90", japanese.ShiftJIS}, {"EUC-", japanese.EUCJP},
		{"ETen-B5-", traditionalchinese.Big5}, {"B5pc-", traditionalchinese.Big5}, {"KSC", korean.EUCKR},
	} {
		if strings.HasPrefix(name, e.prefix) {
			return func(raw string) string {
				text, err := e.is.NewDecoder().String(raw)
				if err != nil {
					return everyPair(raw)
				}
				return text
			}
		}
	}
	return nil
}

// utf16Text is a text in UTF-16, big end first.
func utf16Text(raw string) string {
	units := make([]uint16, 0, len(raw)/2)
	for i := 0; i+1 < len(raw); i += 2 {
		units = append(units, uint16(raw[i])<<8|uint16(raw[i+1]))
	}
	return string(utf16.Decode(units))
}

// simpleEncoding is the table of a font of one byte a glyph: a base, and the
// names of glyphs that differ.
func simpleEncoding(font, encoded pdf.Value) *[256]string {
	base := encoded.Name()
	if encoded.Kind() == pdf.Dict {
		base = encoded.Key("BaseEncoding").Name()
	}
	table := baseEncoding(base, font)
	differences, code := encoded.Key("Differences"), 0
	var names *pdf.Font
	for i := range min(differences.Len(), 1024) {
		switch v := differences.Index(i); v.Kind() {
		case pdf.Integer:
			code = int(v.Int64())
		case pdf.Name:
			if code >= 0 && code < len(table) {
				if names == nil {
					names = &pdf.Font{V: font}
				}
				table[code] = glyphText(v.Name(), code, names)
			}
			code++
		}
	}
	return table
}

// numbered is the name of a glyph by its character's number.
var numbered = regexp.MustCompile(`^(?:uni|u)([0-9A-F]{4,6})$`) //nolint:gochecknoglobals // never changed

// letters is the name of a glyph in words, as "A" or "parenleft".
var letters = regexp.MustCompile(`^[A-Za-z]+[1234]?$|^(?:uni|u)[0-9A-F]{4,6}$|^afii[0-9]+$`) //nolint:gochecknoglobals // never changed

// glyphText is what a glyph's name means, as far as it says so: "g36" does not.
func glyphText(name string, code int, names *pdf.Font) string {
	name, _, _ = strings.Cut(name, ".") // ".alt" is another look
	if name == "" || name == "notdef" {
		return unknown
	}
	if m := numbered.FindStringSubmatch(name); m != nil {
		n, err := strconv.ParseUint(m[1], 16, 32)
		if err == nil && utf8.ValidRune(rune(n)) {
			return string(rune(n))
		}
	}
	if parts := strings.Split(name, "_"); len(parts) > 1 { // a ligature
		text := ""
		for _, part := range parts {
			if len(part) != 1 {
				return unknown
			}
			text += part
		}
		return text
	}
	switch name {
	case "ff", "fi", "fl", "ffi", "ffl", "A", "a":
		return name
	}
	text := names.Encoder().Decode(string([]byte{byte(code)})) // the parser knows Adobe's list
	if r, _ := utf8.DecodeRuneInString(text); !letters.MatchString(name) || int(r) == code && !plausible(name, r) {
		return unknown
	}
	return text
}

// plausible says that a name in words may be that of a character which has the
// glyph's own code: the parser gives that for names that it does not know, too.
func plausible(name string, r rune) bool {
	isLetter := r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	if isLetter {
		return name == string(r)
	}
	return len(name) > 2
}

const (
	greekCapitals = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
	greekSmalls   = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
)

// baseEncoding is the table that a name stands for, or else the font's own as
// far as it is known.
func baseEncoding(name string, font pdf.Value) *[256]string {
	table := new([256]string)
	family := font.Key("BaseFont").Name()
	if at := strings.IndexByte(family, '+'); at == 6 {
		family = family[at+1:]
	}
	switch {
	case name == "WinAnsiEncoding":
		fill(table, charmap.Windows1252)
	case name == "MacRomanEncoding":
		fill(table, charmap.Macintosh)
	case family == "ZapfDingbats":
	case family == "Symbol" || strings.HasPrefix(family, "Symbol,") || strings.HasPrefix(family, "SymbolMT"):
		for c := ' '; c <= '?'; c++ {
			table[c] = string(c)
		}
		for i, r := range []rune(greekCapitals) {
			table['A'+i] = string(r)
		}
		for i, r := range []rune(greekSmalls) {
			table['a'+i] = string(r)
		}
		table[0xb7] = "•"
	default:
		standard(table)
	}
	return table
}

func fill(table *[256]string, from *charmap.Charmap) {
	for i := ' '; i < 256; i++ {
		if r := from.DecodeByte(byte(i)); r != utf8.RuneError {
			table[i] = string(r)
		}
	}
}

// standard fills Adobe's StandardEncoding, the one of Type 1 fonts that name
// none.
func standard(table *[256]string) {
	for c := ' '; c <= '~'; c++ {
		table[c] = string(c)
	}
	table['\''], table['`'] = "’", "‘"
	high := []struct {
		from int
		text string
	}{
		{0xa1, "¡¢£⁄¥ƒ§¤'“«‹›"}, {0xb1, "–†‡·"}, {0xb6, "¶•‚„”»…‰"}, {0xbf, "¿"}, {0xc1, "`´ˆ˜¯˘˙¨"}, {0xca, "˚¸"}, {0xcd, "˝˛ˇ—"},
		{0xe1, "Æ"}, {0xe3, "ª"}, {0xe8, "ŁØŒº"}, {0xf1, "æ"}, {0xf5, "ı"}, {0xf8, "łøœß"},
	}
	for _, h := range high {
		for i, r := range []rune(h.text) {
			table[h.from+i] = string(r)
		}
	}
	table[0xae], table[0xaf] = "fi", "fl"
}
