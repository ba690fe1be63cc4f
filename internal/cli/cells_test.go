package cli

import "testing"

// P23: how far up the text of a dead attempt begins.
func TestRowsOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text    string
		columns int
		want    int
	}{
		{"", 4, 1}, {"abcd", 4, 1}, {"abcde", 4, 2}, {"abcd\nef", 4, 2}, {"a\n", 4, 2}, {"abcdefgh", 0, 1},
		{"漢字", 4, 1}, {"漢字か", 4, 2}, {"a漢字", 4, 2}, {"a漢字か", 4, 2}, {"abc漢字", 4, 2}, {"漢abc字か", 4, 3}, {"e\u0301e\u0301e\u0301e\u0301", 4, 1}, {"🙂🙂🙂", 4, 2},
	} {
		if got := rowsOf(tt.text, tt.columns); got != tt.want {
			t.Errorf("%q in %d columns takes %d rows, want %d", tt.text, tt.columns, got, tt.want)
		}
	}
	for in, want := range map[string]string{"漢字か": "漢字", "abcdef": "abcde", "ab漢字": "ab漢", "": ""} {
		if got := firstCells(in, 5); got != want {
			t.Errorf("the first five cells of %q are %q", in, got)
		}
	}
}
