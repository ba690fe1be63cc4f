package fold_test

import (
	"crypto/aes"
	"crypto/cipher"
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/turnkeel/turnkeel/internal/fold"
)

// counting counts what is decoded.
type counting struct {
	converter.DataConverter
	n int
}

func (c *counting) FromPayloads(p *commonpb.Payloads, values ...any) error {
	c.n++
	return c.DataConverter.FromPayloads(p, values...)
}

// sealed is a codec that encrypts; the nonce is fixed, since nothing is secret
// here.
type sealed struct{ cipher.AEAD }

func newSealed(t *testing.T) sealed {
	t.Helper()
	block, err := aes.NewCipher([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return sealed{aead}
}

func (s sealed) Encode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{"encoding": []byte("binary/sealed")},
			Data:     s.Seal(nil, make([]byte, s.NonceSize()), plain, nil),
		}
	}
	return out, nil
}

func (s sealed) Decode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		plain, err := s.Open(nil, make([]byte, s.NonceSize()), p.GetData(), nil)
		if err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(plain, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Compressed and encrypted payloads say the same as plain ones.
func TestBuild_EncodedPayloads(t *testing.T) {
	t.Parallel()
	dc := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(),
		newSealed(t), converter.NewZlibCodec(converter.ZlibCodecOptions{AlwaysEncode: true}))
	plain, err := fold.Build(twoSteps(t).events, nil)
	if err != nil {
		t.Fatal(err)
	}
	encodedEvents := twoStepsWith(t, dc).events
	encoded, err := fold.Build(encodedEvents, dc)
	if err != nil {
		t.Fatal(err)
	}
	want, err := plain.Prompt(plain.Steps[1].Input, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := encoded.Prompt(encoded.Steps[1].Input, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(plain.Effects(), encoded.Effects()); diff != "" {
		t.Error(diff)
	}
	if _, err := fold.Build(encodedEvents, nil); err == nil {
		t.Error("encoded payloads were read without their codec")
	}
}
