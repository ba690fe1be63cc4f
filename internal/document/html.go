package document

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// maxHTMLToken bounds one tag or one stretch of text.
const maxHTMLToken = 4 << 20

// readHTML writes what a browser would show, roughly: no script is run and no
// address is fetched. It reads tokens and builds no tree, so depth costs nothing.
func readHTML(out *writer, text string) error {
	z := html.NewTokenizer(strings.NewReader(text))
	z.SetMaxBuf(maxHTMLToken)
	hidden := "" // the element whose content is not shown
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return fmt.Errorf("%w: HTML: %w", ErrLimit, err)
			}
			return nil
		case html.TextToken:
			if hidden == "" {
				if err := out.words(string(z.Text())); err != nil {
					return err
				}
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			t := z.Token()
			hidden = hiddenAfter(hidden, t)
			if err := out.tag(t); err != nil {
				return err
			}
		}
	}
}

// hiddenAfter is the hidden element that is open after a tag.
func hiddenAfter(hidden string, t html.Token) string {
	switch {
	case hidden == "" && t.Type == html.StartTagToken:
		switch t.Data {
		case "script", "style", "template", "noscript", "svg", "iframe":
			return t.Data
		}
	case hidden == t.Data && t.Type == html.EndTagToken:
		return ""
	}
	return hidden
}

// tag writes what a tag does to the flow of text.
func (w *writer) tag(t html.Token) error {
	switch t.Data {
	case "td", "th":
		if t.Type == html.EndTagToken {
			return w.write("\t")
		}
		return nil
	case "li":
		if t.Type == html.StartTagToken {
			if err := w.line(); err != nil {
				return err
			}
			return w.write("- ")
		}
		return w.line()
	case "br", "p", "div", "tr", "table", "ul", "ol", "dl", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "title", "section",
		"article", "header", "footer", "nav", "main", "aside", "blockquote", "pre", "hr", "form", "figure", "figcaption", "option":
		return w.line()
	}
	return nil
}

// words writes text with its white space folded.
func (w *writer) words(text string) error {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		if text != "" && w.b.Len() > 0 {
			return w.space()
		}
		return nil
	}
	if first, _ := utf8.DecodeRuneInString(text); unicode.IsSpace(first) {
		if err := w.space(); err != nil {
			return err
		}
	}
	if err := w.write(strings.Join(fields, " ")); err != nil {
		return err
	}
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsSpace(last) {
		return w.write(" ")
	}
	return nil
}

func (w *writer) space() error {
	s := w.b.String()
	if s == "" || strings.HasSuffix(s, " ") || strings.HasSuffix(s, "\n") || strings.HasSuffix(s, "\t") {
		return nil
	}
	return w.write(" ")
}
