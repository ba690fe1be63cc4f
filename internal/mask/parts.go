package mask

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
)

// secretParameters are those of a URL whose value is a secret by itself.
var secretParameters = [...]string{"password", "sslpassword", "api_key", "token", "access_token"}

// parts are the value and what is secret inside it: a header's token after its
// scheme, a URL's password, before its host or among its parameters, what a
// connection string or a JSON object names as secret, and the lines of a key.
func parts(value string) []string {
	all := []string{value}
	if scheme, token, ok := strings.Cut(value, " "); ok && !strings.Contains(token, " ") && len(scheme) <= 10 {
		all = append(all, token)
		if strings.EqualFold(scheme, "Basic") {
			all = append(all, basic(token)...)
		}
	}
	all = append(all, named(value)...)
	all = append(all, lines(value)...)
	u, err := url.Parse(value)
	if err != nil || u.User != nil && strings.Contains(u.Path+u.RawQuery+u.Fragment, "@") {
		all = append(all, userinfo(value)...)
	}
	if err != nil {
		return all
	}
	if password, ok := u.User.Password(); ok {
		all = append(all, password)
	}
	for _, name := range secretParameters {
		all = append(all, u.Query()[name]...)
	}
	return all
}

// basic are the user with the password, and the password, of basic
// authentication.
func basic(token string) []string {
	plain, err := base64.StdEncoding.DecodeString(token)
	_, password, ok := strings.Cut(string(plain), ":")
	if err != nil || !ok {
		return nil
	}
	return []string{string(plain), password}
}

// userinfo are the password of a URL that is none, since its password is not
// escaped, and the pieces that a reader may take for host, port or database.
func userinfo(value string) []string {
	_, rest, ok := strings.Cut(value, "://")
	end := strings.LastIndexByte(rest, '@')
	if !ok || end < 0 {
		return nil
	}
	_, password, ok := strings.Cut(rest[:end], ":")
	if !ok {
		return nil
	}
	all := []string{password}
	if plain, err := url.PathUnescape(password); err == nil {
		all = append(all, plain)
	}
	return append(all, strings.FieldsFunc(password, func(r rune) bool { return strings.ContainsRune("@/?#:", r) })...)
}

// secretName is what a field or parameter is named that holds a secret, and
// after it its value, in quotes or without.
var secretName = regexp.MustCompile(`(?i)(?:password|passwd|pwd|secret|secret_?key|private_?key|access_?key|api_?key|account_?key|token)["']?\s*[=:]\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;&,"'}]+))`)

// named are the values that a connection string or JSON names as secret.
func named(value string) []string {
	var all []string
	for _, found := range secretName.FindAllStringSubmatch(value, -1) {
		for _, v := range found[1:] {
			all = append(all, v)
			var meaning string
			if json.Unmarshal([]byte(`"`+v+`"`), &meaning) == nil && meaning != v {
				all = append(append(all, meaning), lines(meaning)...)
			}
		}
	}
	return all
}

// minLine is how long a line of a value must be to be looked for by itself.
const minLine = 12

// lines are those of a value that has several: a key in a file of text is
// printed a line each, or indented.
func lines(value string) []string {
	if !strings.Contains(value, "\n") {
		return nil
	}
	var all []string
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= minLine && !strings.HasPrefix(line, "-----") {
			all = append(all, line)
		}
	}
	return all
}
