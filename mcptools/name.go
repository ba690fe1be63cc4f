package mcptools

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

const (
	maxName   = 64 // what model endpoints take
	hashBytes = 6  // of the suffix, 12 hex digits
)

// Name is what the model calls a server's tool: <prefix>_<name>, or name when
// there is no prefix. A name that endpoints refuse (other characters than
// letters, digits, _ and -, or more than 64 of them) gets those replaced, is
// cut, and ends with a hash of the whole: the same for the same prefix and name
// whatever else the server lists, and different for different ones. A name that
// only looks as if it had been treated so is treated so, too.
func Name(prefix, name string) string {
	full := name
	if prefix != "" {
		full = prefix + "_" + name
	}
	legal := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(full)
	if legal && !regexp.MustCompile(`_[0-9a-f]{12}$`).MatchString(full) {
		return full
	}
	sum := sha256.Sum256([]byte(full))
	suffix := "_" + hex.EncodeToString(sum[:hashBytes])
	plain := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			return r
		}
		return '_'
	}, full)
	return plain[:min(len(plain), maxName-len(suffix))] + suffix
}
