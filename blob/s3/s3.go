package s3

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/internal/mask"
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
		return "", fmt.Errorf("keep blob %s: %w", ref, s.failure(answer))
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
		return nil, fmt.Errorf("read blob %s: %w", ref, s.failure(answer))
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
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return answer, err
}

// emptyPayload is the SHA-256 of nothing.
const emptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// failure is what a server said instead of doing it.
func (s *Store) failure(answer *http.Response) error {
	var said struct{ Code, Message string }
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	_ = xml.Unmarshal(body, &said) // what is no XML has neither
	said.Code, said.Message = s.masked(answer, said.Code), s.masked(answer, said.Message)
	text := fmt.Sprintf("%s answered %s %.100q: %.300q", s.base.Host, answer.Status, said.Code, said.Message)
	switch {
	case answer.StatusCode == http.StatusNotFound && (said.Code == "NoSuchKey" || said.Code == "NotFound"):
		return fmt.Errorf("%w: it is not in %s", blob.ErrNotFound, s.base)
	case said.Code == "NoSuchBucket":
		return fmt.Errorf("the bucket %s does not exist: %s", s.options.Bucket, text)
	case answer.StatusCode == http.StatusForbidden:
		text += "; without the permission s3:ListBucket S3 says this of what it lacks, too"
	case answer.Header.Get("X-Amz-Bucket-Region") != "" && answer.StatusCode >= 300 && answer.StatusCode <= 400:
		text += "; the bucket's region is " + answer.Header.Get("X-Amz-Bucket-Region") + ": set AWS_REGION"
	}
	return errors.New(text)
}

// masked is what a server said without the session token that it was sent, or a
// secret key that it should not know.
func (s *Store) masked(answer *http.Response, text string) string {
	credentials, err := s.options.Credentials.Retrieve(answer.Request.Context())
	if err != nil {
		return "(not shown: the credentials in it cannot be told)"
	}
	return mask.New(map[string]string{"session token": credentials.SessionToken, "secret access key": credentials.SecretAccessKey}).Text(text)
}

// drain lets the connection be used again.
func drain(answer *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	_ = answer.Body.Close()
}
