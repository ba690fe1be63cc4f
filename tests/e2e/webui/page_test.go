package webui

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel"
)

// seeWait is how long a page may take to show what is looked for. It is far
// longer than any takes, and bounds a test that fails.
const seeWait = 2 * time.Minute

// pageOf is the address of a page of a turn, such as its timeline.
func pageOf(t *testing.T, turn *turnkeel.Turn, page string) string {
	t.Helper()
	return webUI(t) + "/workflows/" + url.PathEscape(turn.ID) + "/" + turn.RunID + "/" + page
}

// webUI is the address of the namespace in the Web UI.
func webUI(t *testing.T) string {
	t.Helper()
	ui := server.UI
	if ui == "" {
		ui = os.Getenv("TURNKEEL_WEB_UI")
	}
	if ui == "" {
		t.Fatal("TEMPORAL_ADDRESS names a server: set TURNKEEL_WEB_UI to the address of its Web UI, or unset TEMPORAL_ADDRESS for a server of the test's own")
	}
	return strings.TrimSuffix(ui, "/") + "/namespaces/" + server.Namespace
}

// seeAgain is when a page that does not show what is looked for is opened
// again: the Web UI asks the worker for a turn's details once, and gives up
// when the answer is late.
const seeAgain = 15 * time.Second

// see opens a page and waits until it shows all of wants, as text, without a
// click. It gives everything that the page shows then.
func (b *browser) see(address string, wants ...string) string {
	b.t.Helper()
	for began := time.Now(); ; {
		b.open(address)
		text, missing := b.await(wants)
		if missing == "" {
			return text
		}
		if time.Since(began) > seeWait {
			b.t.Fatalf("the page does not show %q; it shows:\n%s", missing, text)
		}
	}
}

// await waits until the open page shows all of wants, or for [seeAgain]. It
// gives what the page shows, and what is missing there.
func (b *browser) await(wants []string) (text, missing string) {
	b.t.Helper()
	for began := time.Now(); ; b.frame() {
		text, missing = b.text(), ""
		for _, want := range wants {
			if !strings.Contains(text, want) {
				missing = want
			}
		}
		if missing == "" || time.Since(began) > seeAgain {
			return text, missing
		}
	}
}

// typographic takes back what the Web UI makes of quotes and dashes in
// Markdown outside of code.
var typographic = strings.NewReplacer("“", `"`, "”", `"`, "‘", "'", "’", "'")

// text is what the page shows, with the Markdown in it, which the Web UI keeps
// in frames of its own.
func (b *browser) text() string {
	b.t.Helper()
	var text string
	b.eval("return document.body?.innerText ?? \"\"", &text)
	return text + "\n" + strings.Join(b.markdown(), "\n")
}

// markdown is the text of each piece of Markdown in the page, in order.
func (b *browser) markdown() []string {
	b.t.Helper()
	var texts []string
	b.eval(`return Array.from(document.querySelectorAll("iframe"), f => f.contentDocument?.body?.innerText?.trim() ?? "")`, &texts)
	for i := range texts {
		texts[i] = typographic.Replace(texts[i])
	}
	return texts
}

// frame waits until the browser has drawn.
func (b *browser) frame() {
	b.t.Helper()
	b.call(http.MethodPost, "/execute/async", map[string]any{
		"script": "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))", "args": []any{},
	}, nil)
}

// menuWidth is the part of the window that a picture leaves out, in pixels: the
// Web UI's own menu.
const menuWidth = 256

// keep writes a picture of the page from a heading on, of a height in pixels,
// for the documentation, if the test was asked for pictures.
func (b *browser) keep(name, heading string, height int) {
	b.t.Helper()
	if !*pictures {
		return
	}
	for range 60 { // the Web UI moves things into their place
		b.frame()
	}
	whole, err := png.Decode(bytes.NewReader(b.picture()))
	if err != nil {
		b.t.Fatal(err)
	}
	var top float64
	b.eval(`return Array.from(document.querySelectorAll("h2, h3")).find(h => h.innerText.trim() === arguments[0]).getBoundingClientRect().top`, &top, heading)
	const above = 16
	part := image.Rect(menuWidth, int(top)-above, whole.Bounds().Dx(), min(int(top)-above+height, whole.Bounds().Dy()))
	cut := image.NewRGBA(image.Rect(0, 0, part.Dx(), part.Dy()))
	draw.Draw(cut, cut.Bounds(), whole, part.Min, draw.Src)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, cut); err != nil {
		b.t.Fatal(err)
	}
	path := filepath.Join("..", "..", "..", "docs", "pictures", name+".png")
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		b.t.Fatal(err)
	}
}
