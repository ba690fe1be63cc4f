package turnkeel

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/secrets"
	"github.com/turnkeel/turnkeel/internal/wire/providers"
)

// SecretError is an input that was refused because it holds the value of an
// environment variable that should stay out of histories. Nothing was sent.
type SecretError struct {
	Variable string // its name; the value is nowhere in the error
}

// Error implements error.
func (e SecretError) Error() string {
	return fmt.Sprintf("secret_in_input: the text holds the value of the environment variable %s, and would stay in the history for everybody who may read it: nothing was sent. Take it out; a tool gets it by declaring the variable", e.Variable)
}

// refuseSecrets is a [SecretError] where messages hold what they must not.
func (c *Client) refuseSecrets(messages ...[]contract.Message) error {
	if variable, found := secrets.Find(c.secrets, os.Getenv, messages...); found {
		return SecretError{variable}
	}
	return nil
}

// refuseSecretTexts is [Client.refuseSecrets] for what a person says.
func (c *Client) refuseSecretTexts(texts ...string) error {
	said := make([]contract.Message, len(texts))
	for i, text := range texts {
		said[i].Content = text
	}
	return c.refuseSecrets(said)
}

// ownCredentials are the variables by which a worker or client itself reaches
// its cluster and its bucket.
var ownCredentials = []string{"TEMPORAL_API_KEY", "TEMPORAL_TLS_CLIENT_KEY_DATA", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}

// credentials are the values of the variables that are set, without those so
// short that they are a placeholder's.
func credentials(names []string, getenv func(string) string) map[string]string {
	values := map[string]string{}
	for _, name := range names {
		if value := strings.TrimSpace(getenv(name)); len(value) >= secrets.MinBytes {
			values[name] = value
		}
	}
	return values
}

// secretNames are the given variables, the usual one of each provider's key, and
// this process's own.
func secretNames(given []string) []string {
	names := append(slices.Clone(given), ownCredentials...)
	for _, p := range providers.All() {
		if p.KeyEnv != "" && !slices.Contains(names, p.KeyEnv) {
			names = append(names, p.KeyEnv)
		}
	}
	return names
}
