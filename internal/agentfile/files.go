package agentfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// readFile reads a plain file of at most that many bytes; of a longer one it
// gives the size alone. Anything else, like a pipe, could keep the start
// waiting for ever, so it is not opened.
func readFile(fsys fs.FS, name string, most int) (data []byte, size int64, err error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return nil, 0, err
	case info.IsDir():
		return nil, 0, errors.New("is a directory")
	case !info.Mode().IsRegular():
		return nil, 0, errors.New("is no plain file")
	case info.Size() > int64(most):
		return nil, info.Size(), nil
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err = io.ReadAll(io.LimitReader(f, int64(most)+1))
	return data, int64(len(data)), err
}

// plainText gives the text without a byte order mark and with line ends as \n,
// which the YAML reader counts right, or reports the first character that no text
// has: a file of another encoding would be taken for a text of one strange line.
func (r *reader) plainText(data []byte) (text []byte, ok bool) {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		r.report(place{1, 1}, "is UTF-16; save it as UTF-8")
		return nil, false
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	where := place{1, 1}
	for rest := data; len(rest) > 0; {
		c, n := utf8.DecodeRune(rest)
		switch {
		case c == utf8.RuneError && n == 1:
			r.report(where, "is not UTF-8 here; save it as UTF-8")
			return nil, false
		case c < ' ' && c != '\t' && c != '\n', c == 0x7f, c > 0x7f && c < 0xa0 && c != 0x85, c == '\ufeff':
			r.report(where, "has the character U+%04X here, which no YAML may have; remove it", c)
			return nil, false
		}
		where.column++
		if c == '\n' {
			where = place{where.line + 1, 1}
		}
		rest = rest[n:]
	}
	return data, true
}

// hasEntry says that the folder lists a name. One that cannot be found all the
// same is a link to nothing.
func hasEntry(fsys fs.FS, folder, name string) bool {
	entries, err := fs.ReadDir(fsys, folder)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
}

// otherSpelling is a file of the folder, beside the one of that name, which a
// person or another program may take for it.
func otherSpelling(fsys fs.FS, folder, name, also string) string {
	entries, err := fs.ReadDir(fsys, folder)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if e.Name() != name && (strings.EqualFold(e.Name(), name) || strings.EqualFold(e.Name(), also)) {
			return e.Name()
		}
	}
	return ""
}

// nearFile is a file of the folder whose name is but a slip away.
func nearFile(fsys fs.FS, folder, name string, slips int) string {
	entries, err := fs.ReadDir(fsys, folder)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if d := distance(plainName(e.Name()), plainName(name)); d <= slips && e.Name() != name && !e.IsDir() {
			return e.Name()
		}
	}
	return ""
}

// missingInstructions is what to say of instructions that are not there, if
// anything: without the key there need not be any.
func (r *reader) missingInstructions(fsys fs.FS, folder string, f instructionsFile) {
	name := path.Join(folder, f.name)
	near := nearFile(fsys, path.Dir(name), path.Base(name), 1)
	switch {
	case hasEntry(fsys, path.Dir(name), path.Base(name)):
		r.report(f.at, "instructions: %s is a link to nothing; let it lead to a file", path.Join(path.Dir(r.file), f.name))
	case f.asked && near != "":
		r.report(f.at, "instructions: cannot read %s (file does not exist); did you mean %s?", path.Join(path.Dir(r.file), f.name), quote(path.Join(path.Dir(f.name), near)))
	case f.asked:
		r.report(f.at, "instructions: cannot read %s (file does not exist)", path.Join(path.Dir(r.file), f.name))
	case near != "" && !strings.HasSuffix(near, "~"): // an editor's old copy
		r.report(place{}, "the folder has %s, which nothing reads; rename it to %s or name it by the key instructions", near, InstructionsName)
	}
}
