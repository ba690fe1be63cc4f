package document_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/turnkeel/turnkeel/internal/document"
)

// childVariable makes this test's binary the process that reads one file.
const childVariable = "TURNKEEL_TEST_READS"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		if err := document.Serve(context.Background(), os.Args[len(os.Args)-1], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func isolated(t testing.TB) document.Isolated {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return document.Isolated{Command: []string{self}, Env: []string{childVariable + "=1", "GORACE=atexit_sleep_ms=0"}}
}

// bomb is a deflated stream that inflates to so many MiB of one text.
func bomb(t testing.TB, mib int, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	block := []byte(strings.Repeat(text, (1<<20)/len(text)))
	for range mib {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return stream("/Filter/FlateDecode", b.String())
}

// hostile are files that ask a reader for more than it has. They are made once.
func hostile(t testing.TB) map[string][]byte {
	t.Helper()
	madeHostile.Do(func() { hostileFiles = makeHostile(t) })
	return hostileFiles
}

var (
	madeHostile  sync.Once
	hostileFiles map[string][]byte
)

func makeHostile(t testing.TB) map[string][]byte {
	t.Helper()
	entities := `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a0 "ha">`
	for i := range 30 {
		entities += fmt.Sprintf(`<!ENTITY a%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&a%d;", i), 10))
	}
	many := make([]string, 0, 24_000)
	for i := range 12_000 {
		many = append(many, fmt.Sprintf("word/%d.xml", i), "")
	}
	return map[string][]byte{
		"bomb.docx":       docxOf(t, "<w:p><w:t>"+strings.Repeat("0", 80<<20)+"</w:t></w:p>"),
		"tags.docx":       docxOf(t, strings.Repeat("<w:p/>", 12<<20)),
		"entities.docx":   zipOf(t, "word/document.xml", entities+"]><d>&a30;</d>"),
		"undeclared.docx": docxOf(t, "<w:p><w:t>&a30;</w:t></w:p>"),
		"external.docx":   zipOf(t, "word/document.xml", `<!DOCTYPE d SYSTEM "file:///etc/passwd"><d/>`),
		"deep.docx":       docxOf(t, strings.Repeat("<w:p>", 1<<20)),
		"attributes.docx": docxOf(t, `<w:p a="`+strings.Repeat("x", 80<<20)+`"/>`),
		"entries.docx":    zipOf(t, many...),
		"bomb.xlsx":       xlsxOf(t, strings.Repeat(`<row><c t="s"><v>0</v></c></row>`, 1<<20), "<si><t>"+strings.Repeat("x", 1<<20)+"</t></si>"),
		"columns.xlsx":    xlsxOf(t, strings.Repeat(`<row><c r="ZZZZZZZZZZZZ1"><v>1</v></c></row>`, 1000), ""),

		"loop.pdf":     pdfOf(catalog, "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 1000000000>>"),
		"ring.pdf":     pdfOf(catalog, "<</Type/Pages/Kids[3 0 R]/Count 1>>", "<</Type/Pages/Kids[2 0 R]/Count 1>>"),
		"parent.pdf":   pdfOf(catalog, "<</Type/Pages/Kids[3 0 R]/Count 1/Parent 3 0 R>>", "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>", stream("", "BT /F1 9 Tf (x) Tj ET")),
		"self.pdf":     pdfOf("1 0 R", "2 0 R"),
		"forms.pdf":    pdfOf(catalog, "<</Type/Pages/Kids[3 0 R]/Count 1>>", "<</Type/Page/Resources<</XObject<</A 4 0 R>>>>/Contents 5 0 R>>", stream("/Subtype/Form/Resources<</XObject<</A 4 0 R>>>>", strings.Repeat("/A Do ", 50)), stream("", "/A Do")),
		"bomb.pdf":     pagesPDF(bomb(t, 70, "BT (x) Tj ET ")),
		"numbers.pdf":  pagesPDF(bomb(t, 40, "1 ")),
		"string.pdf":   pagesPDF(bomb(t, 48, "(((((((((((((((")),
		"arrays.pdf":   pagesPDF(deflated([]byte(strings.Repeat("[", 200_000)))),
		"dicts.pdf":    pagesPDF(stream("", strings.Repeat("<</A", 1<<18))),
		"size.pdf":     xrefPDF("/Size 4000000000/W[1 1 1]/Index[0 1]"),
		"index.pdf":    xrefPDF("/Size 2/W[1 1 1]/Index[4000000000 1]"),
		"widths.pdf":   xrefPDF("/Size 2/W[4000000000 1 1]/Index[0 1]"),
		"negative.pdf": xrefPDF("/Size -1/W[-1 1 1]/Index[-5 1]"),
		"table.pdf":    []byte("%PDF-1.7\nxref\n4000000000 1\n0000000000 00000 n \ntrailer\n<</Size 1/Root 1 0 R>>\n%" + strings.Repeat("p", 100) + "\nstartxref\n9\n%%EOF\n"),
		"prev.pdf":     []byte("%PDF-1.7\nxref\n0 1\n0000000000 65535 f \ntrailer\n<</Size 1/Root 1 0 R/Prev 9>>\n%" + strings.Repeat("p", 100) + "\nstartxref\n9\n%%EOF\n"),

		"map.pdf":    fontPDF("BT /F1 9 Tf (x) Tj ET", "<</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode 6 0 R>>", stream("", "1 begincodespacerange <00000000> <ffffffff> endcodespacerange 100 beginbfrange "+strings.Repeat("<00000000> <ffffffff> <0041> ", 1000)+"endbfrange")),
		"images.pdf": pagesPDF(stream("", strings.Repeat("BI ID ", 1<<18))),
		"fields.pdf": pdfOf(catalog, "<</Type/Pages/Kids[3 0 R]/Count 1>>", "<</Type/Page/Parent 2 0 R/Annots["+strings.Repeat("4 0 R ", 100_000)+"]>>", "<</Subtype/Widget/Parent 4 0 R/FT/Tx/T(a)>>"),

		"deep.html": []byte(strings.Repeat("<div>", 1<<20)),
		"tag.html":  []byte("<p " + strings.Repeat("x", 14<<20)),
		"deep.json": []byte(strings.Repeat("[", 4<<20)),
	}
}

// lying is a Word file whose part says that it inflates to 100 bytes.
func lying(t testing.TB, text string) []byte {
	t.Helper()
	var packed, b bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(&b)
	part, err := z.CreateRaw(&zip.FileHeader{Name: "word/document.xml", Method: zip.Deflate, CompressedSize64: uint64(packed.Len()), UncompressedSize64: 100})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(packed.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// xrefPDF is a PDF whose table is a stream with that dictionary.
func xrefPDF(dict string) []byte {
	return []byte("%PDF-1.7\n1 0 obj\n" + stream("/Type/XRef/Root 1 0 R"+dict, "\x01\x00\x00") + "\nendobj\nstartxref\n9\n%%EOF\n")
}

// Y22: a file that asks for more than a reader has is an error or a text that
// is cut; this process's memory stays flat, and the one that reads is bounded
// by its own limits and its time.
func TestIsolated_HostileFiles(t *testing.T) {
	files := hostile(t)
	for name, data := range files {
		if len(data) > document.MaxBytes {
			t.Fatalf("%s has %d bytes: it would be refused for its size", name, len(data))
		}
	}
	runtime.GC()
	heap, stop := peak()
	before := heap()
	for name, data := range files {
		t.Run(name, func(t *testing.T) {
			reader := isolated(t)
			reader.Timeout = 10 * time.Second
			text, err := reader.Read(t.Context(), name, data)
			t.Logf("%d bytes → %d bytes of text, %.150v", len(data), len(text.Text), err)
			if err == nil && len(text.Text) > document.DefaultLimits.TextBytes {
				t.Errorf("%d bytes of text", len(text.Text))
			}
		})
	}
	stop()
	grown := int64(heap()) - int64(before)
	t.Logf("this process's heap grew by at most %d MiB", grown>>20)
	if grown > 200<<20 { // an answer of 16 MiB of text and its JSON
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
}

// peak follows the highest heap, garbage included.
func peak() (heap func() uint64, stop func()) {
	var highest atomic.Uint64
	done, ended := make(chan struct{}), make(chan struct{})
	look := func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		if now := sample[0].Value.Uint64(); now > highest.Load() {
			highest.Store(now)
		}
	}
	look()
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
				look()
				runtime.Gosched()
			}
		}
	}()
	return highest.Load, func() { close(done); <-ended }
}

// A reader that does not come to an end is ended; one that dies is an error.
func TestIsolated_EndsTheProcess(t *testing.T) {
	t.Parallel()
	slow := isolated(t)
	slow.Timeout = 1 // a nanosecond
	if _, err := slow.Read(t.Context(), "a.txt", []byte("x")); !errors.Is(err, document.ErrLimit) {
		t.Errorf("out of time: %v", err)
	}
	dies := document.Isolated{Command: []string{"sh", "-c", "kill -9 $$"}}
	if _, err := dies.Read(t.Context(), "a.txt", []byte("x")); !errors.Is(err, document.ErrLimit) {
		t.Errorf("killed: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := isolated(t).Read(ctx, "a.txt", []byte("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
	if _, err := isolated(t).Read(t.Context(), "a.bin", []byte("\x7fELF\x00")); !errors.Is(err, document.ErrUnsupported) {
		t.Errorf("an error loses its kind: %v", err)
	}
	if got, err := isolated(t).Read(t.Context(), "a.txt", []byte("hello")); err != nil || got.Text != "hello" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Limits hold in the process itself too, without the one around it.
func TestRead_Limits(t *testing.T) {
	t.Parallel()
	files := hostile(t)
	if _, err := document.Read(t.Context(), "a.docx", lying(t, wordHead+paragraph(strings.Repeat("0", 3<<20))+wordTail), document.Limits{}); err == nil {
		t.Error("a part that lies about its size is read")
	}
	for name, want := range map[string]error{
		"bomb.docx": document.ErrLimit, "tags.docx": document.ErrLimit, "attributes.docx": document.ErrLimit, "entities.docx": document.ErrLimit, "external.docx": document.ErrLimit, "deep.docx": document.ErrLimit,
		"loop.pdf": document.ErrLimit, "ring.pdf": document.ErrLimit, "entries.docx": document.ErrLimit, "tag.html": document.ErrLimit,
	} {
		if _, err := document.Read(t.Context(), name, files[name], document.Limits{Inflated: 1 << 20, Entries: 1_000, Depth: 50, TextBytes: 1 << 20, PDFPages: 100}); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Y22: no input panics, and what is read is legal.
func FuzzRead(f *testing.F) {
	for name, data := range map[string][]byte{
		"a.txt": []byte("x"), "a.html": []byte("<p>x<script>"), "a.docx": docxOf(f, paragraph("x")),
		"a.xlsx": xlsxOf(f, `<row><c r="B1" t="s"><v>0</v></c><c s="1"><v>1.5</v></c></row>`, "<si><t>x</t></si>"),
		"a.png":  pngOf(f),
	} {
		f.Add(name, data)
	}
	limits := document.Limits{Inflated: 1 << 20, Entries: 100, Depth: 50, TextBytes: 1 << 20, PDFPages: 100}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if bytes.HasPrefix(data, []byte("%PDF")) {
			return // its tables may have any size: TestIsolated_HostileFiles and FuzzIsolated
		}
		text, err := document.Read(t.Context(), name, data, limits)
		if err == nil && (!utf8.ValidString(text.WithNotes()) || len(text.Text) > limits.TextBytes) {
			t.Errorf("%d bytes, legal: %v", len(text.Text), utf8.ValidString(text.Text))
		}
	})
}

// Y22: no PDF ends more than the process that reads it.
func FuzzIsolated(f *testing.F) {
	f.Add(pagesPDF(stream("", "BT /F1 9 Tf 1 0 0 1 0 0 Tm [(x) -300 (y)] TJ 0 -9 TD (z) ' /A Do ET")))
	f.Add(xrefPDF("/Size 2/W[1 1 1]/Index[0 1]"))
	reader := isolated(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := reader.Read(t.Context(), "a.pdf", append([]byte("%PDF-1.7\n"), data...))
		if err == nil && !utf8.ValidString(text.WithNotes()) {
			t.Error("the text is not legal")
		}
	})
}
