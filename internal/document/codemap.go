package document

import (
	"strings"

	"github.com/ledongthuc/pdf"
)

// codeMap is a font's ToUnicode: what its codes mean.
type codeMap struct {
	texts map[string]string // by code
	usual int               // the size of a code that is in no range, in bytes
	lows  [][2]string       // ranges of codes, of one size each
	added int
}

// maxCodes bounds what a font says of its codes.
const maxCodes = 1 << 17

// newCodeMap reads a map. One that is damaged is read as far as it goes.
func newCodeMap(v pdf.Value, composite bool) (m *codeMap) {
	m = &codeMap{texts: map[string]string{}, usual: 1}
	defer func() { _ = recover() }() // the caller sees what is missing
	if composite {
		m.usual = 2
	}
	base := 0
	pdf.Interpret(v, func(stack *pdf.Stack, op string) {
		switch op {
		case "findresource", "begincmap": // what follows is put into a dictionary
			stack.Push(dictionary())
		case "defineresource":
			stack.Pop()
		case "begincodespacerange", "beginbfchar", "beginbfrange":
			stack.Pop()
			base = stack.Len()
		case "endcodespacerange", "endbfchar", "endbfrange":
			args := make([]pdf.Value, max(0, stack.Len()-base))
			for i := len(args) - 1; i >= 0; i-- {
				args[i] = stack.Pop()
			}
			m.section(op, args)
		}
	})
	return m
}

// section reads the entries of one section of the map.
func (m *codeMap) section(op string, args []pdf.Value) {
	switch op {
	case "endcodespacerange":
		for ; len(args) >= 2; args = args[2:] {
			if lo, hi := args[0].RawString(), args[1].RawString(); len(lo) == len(hi) && len(lo) > 0 && len(lo) <= 4 {
				m.lows = append(m.lows, [2]string{lo, hi})
			}
		}
	case "endbfchar":
		for ; len(args) >= 2; args = args[2:] {
			m.add(args[0].RawString(), args[1].RawString())
		}
	case "endbfrange":
		for ; len(args) >= 3; args = args[3:] {
			m.addRange(args[0].RawString(), args[1].RawString(), args[2])
		}
	}
}

func (m *codeMap) add(code, to string) {
	if m.added++; len(code) == 0 || len(code) > 4 || m.added > maxCodes {
		return
	}
	if len(to) == 1 { // against the rules, and seen
		to = "\x00" + to
	}
	m.texts[code] = strings.ToValidUTF8(utf16Text(to), unknown)
}

func (m *codeMap) addRange(lo, hi string, to pdf.Value) {
	if len(lo) != len(hi) || len(lo) == 0 || len(lo) > 4 {
		return
	}
	first, last := codeOf(lo), codeOf(hi)
	text := []byte(to.RawString())
	for i := uint64(0); first+i <= last && m.added <= maxCodes; i++ {
		code := codeBytes(first+i, len(lo))
		if to.Kind() == pdf.Array {
			if i >= uint64(to.Len()) { //nolint:gosec // a length
				return
			}
			m.add(code, to.Index(int(i)).RawString()) //nolint:gosec // below the length
			continue
		}
		m.add(code, string(text))
		for at := len(text) - 1; at >= 0; at-- { // with a carry
			if text[at]++; text[at] != 0 {
				break
			}
		}
	}
}

func codeOf(code string) uint64 {
	n := uint64(0)
	for i := range len(code) {
		n = n<<8 | uint64(code[i])
	}
	return n
}

func codeBytes(n uint64, size int) string {
	b := make([]byte, size)
	for i := size - 1; i >= 0; i-- {
		b[i] = byte(n)
		n >>= 8
	}
	return string(b)
}

// next is the size of the first code of a string, and what it means, "" when the
// map does not say it. A code of a simple font is a byte, whatever ranges its map
// has: some programs write those of other fonts.
func (m *codeMap) next(raw string) (size int, text string) {
	if m.usual == 1 {
		text = m.texts[raw[:1]]
		if text == "" {
			text = m.texts["\x00"+raw[:1]]
		}
		return 1, text
	}
	for n := 1; n <= 4 && n <= len(raw); n++ {
		for _, r := range m.lows {
			if len(r[0]) == n && inRange(raw[:n], r) {
				return n, m.texts[raw[:n]]
			}
		}
	}
	size = min(m.usual, len(raw))
	return size, m.texts[raw[:size]]
}

// inRange says that each byte of a code is in its range, which is how codes have
// ranges.
func inRange(code string, r [2]string) bool {
	for i := range len(code) {
		if code[i] < r[0][i] || code[i] > r[1][i] {
			return false
		}
	}
	return true
}
