package contract

import (
	"fmt"
	"time"
)

// Duration is a time.Duration that is written "1m30s" in JSON and YAML, so
// that a history reads well in the Web UI.
type Duration time.Duration

// Std is the duration as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the form that [time.ParseDuration] reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what [time.ParseDuration] reads: "300ms", "24h".
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("duration %q: want a form like 90s, 30m or 24h", text)
	}
	*d = Duration(v)
	return nil
}
