package s3

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/turnkeel/turnkeel/blob"
)

// maxBlob bounds what is read of an object, in bytes.
const maxBlob = 256 << 20

// Store is a [blob.Store] in a bucket; [New] makes one.
type Store struct {
	options Options
	base    *url.URL
	client  *http.Client
}

// static are credentials that do not change.
type static aws.Credentials

// Retrieve implements [aws.CredentialsProvider].
func (s static) Retrieve(context.Context) (aws.Credentials, error) { return aws.Credentials(s), nil }

// Address is where blobs are kept, without credentials.
func (s *Store) Address() string { return s.base.String() }

// Put implements [blob.Store]. It always writes: the object is the same bytes
// under the same key, or one that was damaged.
func (s *Store) Put(ctx context.Context, data []byte) (string, error) {
	ref := blob.Ref(data)
	answer, err := s.do(ctx, http.MethodPut, ref, data)
	if err != nil {
		return "", fmt.Errorf("keep blob %s: %w", ref, err)
	}
	defer drain(answer)
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("keep blob %s: %w", ref, s.failure(ctx, answer))
	}
	if answer.Header.Get("ETag") == "" { // every store of this protocol gives one to what it keeps
		return "", fmt.Errorf("keep blob %s: %s answered 200 without an ETag, so it is no S3 server and kept nothing: %s", ref, s.base.Host, checkEndpoint)
	}
	return ref, nil
}

// Get implements [blob.Store].
func (s *Store) Get(ctx context.Context, ref string) ([]byte, error) {
	answer, err := s.do(ctx, http.MethodGet, ref, nil)
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", ref, err)
	}
	defer drain(answer)
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read blob %s: %w", ref, s.failure(ctx, answer))
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxBlob+1))
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", ref, err)
	}
	if err := blob.Check(ref, data); err != nil {
		return nil, err
	}
	return data, nil
}

// do makes a signed request for the object of ref. Its digest is the payload's
// too, so a body that is damaged on its way is refused by the server.
func (s *Store) do(ctx context.Context, method, ref string, data []byte) (*http.Response, error) {
	digest, err := blob.Digest(ref)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, s.base.JoinPath(digest[:2], digest).String(), bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	payload := digest
	if method == http.MethodGet {
		payload = emptyPayload
	}
	request.Header.Set("X-Amz-Content-Sha256", payload)
	credentials, err := s.options.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the credentials: %w", err)
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err := signer.SignHTTP(ctx, credentials, request, payload, "s3", s.options.Region, time.Now()); err != nil {
		return nil, fmt.Errorf("sign the request: %w", err)
	}
	answer, err := s.client.Do(request)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, s.unreachable(err)
	}
	return answer, nil
}

// emptyPayload is the SHA-256 of nothing.
const emptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// drain lets the connection be used again.
func drain(answer *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	_ = answer.Body.Close()
}
