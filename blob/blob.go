// Package blob keeps what is too large for a Temporal history: a tool's result
// over 1,800 KiB, a long transcript that a continued run takes along. History
// then holds a reference, and every worker that moves the turn on must be able
// to read it: several machines need one store, for example a shared folder.
//
// It is worker-side and knows nothing of Temporal. The entry points are
// [Store], which is two methods, and [Folder], which keeps blobs in a folder.
// A store of your own is held to the same rules by package blobtest.
//
// Blobs are named by what they hold, so writing one twice is harmless and
// nothing is ever changed. Nothing deletes them either: how long they must
// live is how long the namespace keeps its histories.
package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Store keeps blobs. It is safe for concurrent use, also by several processes.
type Store interface {
	// Put keeps data and gives its reference: [Ref] of it. When it returns
	// without an error, the data is there for every reader of the store. It
	// does not keep data's memory.
	Put(ctx context.Context, data []byte) (ref string, err error)

	// Get gives the data back, to the byte. Its errors wrap [ErrBadRef] for
	// what is no reference, [ErrNotFound] for one that the store lacks, and
	// [ErrCorrupt] for data that is not what the reference names; any other
	// error may pass, and the caller may try again. The caller owns the bytes.
	Get(ctx context.Context, ref string) ([]byte, error)
}

// What is wrong with a blob; told apart with errors.Is.
var (
	ErrBadRef   = errors.New("blob: not a reference")
	ErrNotFound = errors.New("blob: not found")
	ErrCorrupt  = errors.New("blob: corrupt")
)

// refPrefix begins every reference; 64 hex digits follow.
const refPrefix = "sha256:"

// Ref is the reference of data: "sha256:" and its SHA-256 in 64 lower-case hex
// digits.
func Ref(data []byte) string {
	sum := sha256.Sum256(data)
	return refPrefix + hex.EncodeToString(sum[:])
}

// Digest gives the 64 hex digits of a reference, or an error that wraps
// [ErrBadRef]. They are safe as a file name or a key: nothing else passes.
func Digest(ref string) (string, error) {
	digest, ok := strings.CutPrefix(ref, refPrefix)
	if !ok || len(digest) != 2*sha256.Size || strings.Trim(digest, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%w: %.100q; want %s and 64 hex digits", ErrBadRef, ref, refPrefix)
	}
	return digest, nil
}

// Check says whether data is what ref names; its error wraps [ErrCorrupt].
func Check(ref string, data []byte) error {
	if Ref(data) != ref {
		return fmt.Errorf("%w: %s holds %d other bytes", ErrCorrupt, ref, len(data))
	}
	return nil
}
