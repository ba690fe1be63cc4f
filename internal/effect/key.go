// Package effect derives the identity of a call. It is pure and is used by
// workflows and by the worker, which must agree to the byte; the vectors in
// testdata fix the formula for ever.
package effect

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// Scope is what a key is unique in: a turn survives retries, continue-as-new
// and reset under it, and a new start under the same workflow id is another.
type Scope struct {
	Namespace  string
	WorkflowID string
	FirstRunID string
}

// Widened is the scope of an override key: the turn's or, where the tool asks
// for it, the session's or the namespace's. Beyond the turn it is the system
// outside that deduplicates. keyScope is a [contract.RunPlan]'s; a turn of no
// session keeps its own scope.
func (s Scope) Widened(keyScope, session string) Scope {
	switch {
	case keyScope == "namespace":
		return Scope{Namespace: s.Namespace}
	case keyScope == "session" && session != "":
		return Scope{Namespace: s.Namespace, WorkflowID: "session:" + session}
	default:
		return s
	}
}

const (
	derivedTag  = "turnkeel/key/v1"
	overrideTag = "turnkeel/key/v1/override"
)

// Key is the idempotency key of a call: 64 hex digits. occurrence counts the
// earlier identical calls of the turn whose outcome was definite, so a key
// does not move when an unrelated call appears before it.
func Key(s Scope, tool, canonicalArgs string, occurrence int) string {
	return hash(derivedTag, s.Namespace, s.WorkflowID, s.FirstRunID, tool,
		ArgsDigest(canonicalArgs), strconv.Itoa(occurrence))
}

// OverrideKey is the key of a call whose tool names its own key material. It
// is hashed with scope and tool, so the same override in another turn or of
// another tool is another key.
func OverrideKey(s Scope, tool, override string) string {
	return hash(overrideTag, s.Namespace, s.WorkflowID, s.FirstRunID, tool, override)
}

// ArgsDigest names canonical arguments: 64 hex digits of their SHA-256.
func ArgsDigest(canonicalArgs string) string {
	sum := sha256.Sum256([]byte(canonicalArgs))
	return hex.EncodeToString(sum[:])
}

// Short is the part of a key that people are shown.
func Short(key string) string {
	if len(key) > 8 {
		return key[:8]
	}
	return key
}

// Digest names a list of parts: 64 hex digits.
func Digest(parts ...string) string { return hash(parts...) }

// hash is SHA-256 over the length-prefixed parts: no two lists of parts
// collide by moving a byte from one part to the next.
func hash(parts ...string) string {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}
