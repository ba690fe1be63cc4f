package websearch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// Bounds of what the model reads, in runes. Ten pages come to fewer than 15,000,
// below the limit of one result.
const (
	maxTitle   = 200
	maxURL     = 1000
	maxSnippet = 1000
	maxText    = 3000 // of the short answer
	maxExcerpt = 300  // of an error
)

// answer is Tavily's answer, as far as it is used. Results is nil when the field
// is missing, which it never is in a good answer.
type answer struct {
	Answer  string    `json:"answer"`
	Results []*result `json:"results"`
}

type result struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Content string `json:"content"`
}

// read turns the body of a 200 into what the model reads. A body that says
// something else than results is an error: gateways send theirs with 200 too.
func (to endpoint) read(body []byte, most int) (Found, error) {
	var a answer
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if err := json.Unmarshal(body, &a); err != nil {
		return Found{}, fmt.Errorf("the search service's answer (status 200) is not Tavily's: %s", to.clean(string(body), maxExcerpt))
	}
	if a.Results == nil {
		if said := detail(body); said != "" {
			return Found{}, fmt.Errorf("the search service answered with status 200 and an error: %s", to.clean(said, maxExcerpt))
		}
		return Found{}, errors.New("the search service's answer (status 200) has no results in it: " + to.clean(string(body), maxExcerpt))
	}
	if len(a.Results) == 0 {
		if said := fault(body); said != "" {
			return Found{}, fmt.Errorf("the search service answered with status 200 and an error: %s", to.clean(said, maxExcerpt))
		}
	}
	found := Found{Answer: to.clean(a.Answer, maxText), Results: []Page{}}
	for _, r := range a.Results {
		if len(found.Results) == most {
			break
		}
		if r == nil || !isPage(r.URL) {
			continue
		}
		found.Results = append(found.Results, Page{
			Title: to.clean(r.Title, maxTitle), URL: to.address(r.URL), Snippet: to.clean(r.Content, maxSnippet),
		})
	}
	return found, nil
}

// isPage says that an address is a web page's: a model may hand it to a person
// or to another tool.
func isPage(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && u.User == nil && (u.Scheme == "http" || u.Scheme == "https") && len(address) <= maxURL
}

// address is a page's, as it stands, or written out where something in it would be
// taken away, which made it another's.
func (to endpoint) address(address string) string {
	if u, err := url.Parse(address); err == nil && visible(address) != address {
		address = u.String()
	}
	return to.clean(address, 3*maxURL) // no longer than that when written out
}

// clean bounds text to so many runes, without characters that a terminal acts
// on or nobody sees, and without the key, which a service may echo.
func (to endpoint) clean(text string, runes int) string {
	text = strings.ReplaceAll(visible(text), to.key, "["+KeyVariable+"]") // as it reads now: what was invisible in it is gone
	if all := []rune(text); len(all) > runes {
		return string(all[:runes-1]) + "…"
	}
	return text
}

// visible is what is seen of a text, in one line; nothing of a blank one.
func visible(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Join(strings.Fields(text), " ")
}
