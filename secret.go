package turnkeel

import (
	"fmt"
	"os"
	"slices"

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

// secretNames are the given variables and the usual one of each provider's key.
func secretNames(given []string) []string {
	names := slices.Clone(given)
	for _, p := range providers.All() {
		if p.KeyEnv != "" && !slices.Contains(names, p.KeyEnv) {
			names = append(names, p.KeyEnv)
		}
	}
	return names
}
