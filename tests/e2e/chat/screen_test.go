package chat

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// screen is as much of a terminal as the starter uses: it says what a person
// would see, with what has scrolled away above it.
type screen struct {
	mu      sync.Mutex
	width   int
	rows    [][]rune
	x, y    int
	pending []byte // an unfinished rune or sequence
	raw     strings.Builder
	changed chan struct{} // closed at each change, and made anew
}

func newScreen(width int) *screen {
	return &screen{width: width, rows: [][]rune{nil}, changed: make(chan struct{})}
}

// Write shows what a program prints.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw.Write(p)
	s.pending = append(s.pending, p...)
	for len(s.pending) > 0 {
		n := s.take(s.pending)
		if n == 0 {
			break
		}
		s.pending = s.pending[n:]
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return len(p), nil
}

// take shows the first of the bytes and says how many that were; 0 when more
// are needed.
func (s *screen) take(p []byte) int {
	switch p[0] {
	case '\r':
		s.x = 0
		return 1
	case '\n':
		s.y++
		s.row()
		return 1
	case '\b':
		s.x = max(0, s.x-1)
		return 1
	case 0x1b:
		return s.sequence(p)
	}
	if !utf8.FullRune(p) {
		return 0
	}
	r, n := utf8.DecodeRune(p)
	s.put(r)
	return n
}

// put shows a character; a wide one takes two columns, the second of which
// holds nothing.
func (s *screen) put(r rune) {
	cells := []rune{r}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		cells = []rune{r, 0}
	}
	if s.x+len(cells) > s.width {
		s.x = 0
		s.y++
	}
	s.row()
	row := s.rows[s.y]
	for len(row) < s.x+len(cells) {
		row = append(row, ' ')
	}
	copy(row[s.x:], cells)
	s.rows[s.y] = row
	s.x += len(cells)
}

// row makes the cursor's row be there.
func (s *screen) row() {
	for len(s.rows) <= s.y {
		s.rows = append(s.rows, nil)
	}
}

// sequence does what a control sequence says.
func (s *screen) sequence(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	if p[1] != '[' {
		return 2
	}
	n, private, i := 0, false, 2
	for ; i < len(p) && (p[i] < '@' || p[i] > '~'); i++ {
		if p[i] >= '0' && p[i] <= '9' {
			n = n*10 + int(p[i]-'0')
		} else {
			private = private || p[i] == '?'
		}
	}
	if i == len(p) {
		return 0
	}
	if !private {
		s.control(p[i], n)
	}
	return i + 1
}

func (s *screen) control(what byte, n int) {
	count := max(1, n)
	s.row()
	switch what {
	case 'A':
		s.y = max(0, s.y-count)
	case 'B':
		s.y += count
	case 'C':
		s.x = min(s.width-1, s.x+count)
	case 'D':
		s.x = max(0, min(s.x, s.width-1)-count)
	case 'J', 'K':
		s.rows[s.y] = s.rows[s.y][:min(s.x, len(s.rows[s.y]))]
		if what == 'J' {
			s.rows = s.rows[:s.y+1]
		}
	}
	s.row()
}

// text is what stands on the screen.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := make([]string, len(s.rows))
	for i, row := range s.rows {
		lines[i] = strings.TrimRight(strings.ReplaceAll(string(row), "\x00", ""), " ")
	}
	return strings.Join(lines, "\n")
}

// change is closed with the next change.
func (s *screen) change() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// printed is everything that was ever printed.
func (s *screen) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}
