// Package secrets finds the values of environment variables in what is about
// to be recorded. It is pure: the environment is handed in. Entry point:
// [Find].
package secrets

import (
	"strings"

	"github.com/turnkeel/turnkeel/contract"
)

// MinBytes is the shortest value that is looked for: shorter ones, like "on" or
// "ollama", stand in honest texts.
const MinBytes = 8

// Find names the first of the variables whose value stands in one of the
// messages, in their text, names of attachments, reasoning, calls or provider-private
// parts. getenv
// gives "" for a variable that is not set.
func Find(variables []string, getenv func(string) string, messages ...[]contract.Message) (variable string, found bool) {
	for _, variable := range variables {
		value := strings.TrimSpace(getenv(variable)) // a value read from a file has a line end
		if len(value) < MinBytes {
			continue
		}
		for _, some := range messages {
			for _, m := range some {
				if holds(m, value) {
					return variable, true
				}
			}
		}
	}
	return "", false
}

func holds(m contract.Message, value string) bool {
	if strings.Contains(m.Content, value) || strings.Contains(m.Reasoning, value) || strings.Contains(m.Extra, value) {
		return true
	}
	for _, a := range m.Attachments {
		if strings.Contains(a.Name, value) {
			return true
		}
	}
	for _, c := range m.ToolCalls {
		if strings.Contains(c.Args, value) || strings.Contains(c.Extra, value) {
			return true
		}
	}
	return false
}
