package fold

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/turnkeel/turnkeel/contract"
)

// MaxUnpackedBytes bounds what [Unpack] reads: a few KB of gzip can stand for
// gigabytes. Histories end a turn long before its transcript has this size.
const MaxUnpackedBytes = 64 << 20

// ErrUnpack is what a packed transcript that cannot be read is an error of.
var ErrUnpack = errors.New("packed transcript")

// Pack writes a transcript as the gzipped JSON that [contract.Packed] carries,
// and says how many bytes the JSON has. What is packed can be unpacked: one
// that is too large for [Unpack] is an error.
func Pack(t contract.PackedTranscript) (packed []byte, unpacked int, err error) {
	if t.Messages == nil {
		t.Messages = []contract.Message{}
	}
	text, err := json.Marshal(t)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrUnpack, err)
	}
	if len(text) > MaxUnpackedBytes {
		return nil, 0, fmt.Errorf("%w: it has %d bytes, more than %d", ErrUnpack, len(text), MaxUnpackedBytes)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrUnpack, err)
	}
	if err := w.Close(); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrUnpack, err)
	}
	return b.Bytes(), len(text), nil
}

// Unpack reads what [Pack] wrote: the bytes of [contract.Packed.Gzip], or of
// the blob it names. Its errors wrap [ErrUnpack].
func Unpack(packed []byte) (contract.PackedTranscript, error) {
	var t contract.PackedTranscript
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return t, fmt.Errorf("%w: %w", ErrUnpack, err)
	}
	text, err := io.ReadAll(io.LimitReader(r, MaxUnpackedBytes+1))
	if err != nil {
		return t, fmt.Errorf("%w: %w", ErrUnpack, err)
	}
	if len(text) > MaxUnpackedBytes {
		return t, fmt.Errorf("%w: %d bytes unpack to more than %d", ErrUnpack, len(packed), MaxUnpackedBytes)
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return t, fmt.Errorf("%w: %w", ErrUnpack, err)
	}
	return t, nil
}
