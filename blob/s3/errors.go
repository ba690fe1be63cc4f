package s3

import (
	"context"
	"crypto/x509"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/internal/mask"
)

const checkEndpoint = "check AWS_ENDPOINT_URL_S3, the network and the proxy variables"

// unreachable is a request that no server answered. The address of a proxy, which
// may hold a password, is not told.
func (s *Store) unreachable(err error) error {
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	var slow net.Error
	switch where := s.base.Scheme + "://" + s.base.Host; {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return fmt.Errorf("%s has a certificate of an authority that is not known here: set SSL_CERT_FILE to a file with the authority's certificate: %w", where, err)
	case errors.As(err, new(x509.HostnameError)), errors.As(err, new(x509.CertificateInvalidError)):
		return fmt.Errorf("%s has a certificate that is not good for it: %w", where, err)
	case strings.Contains(err.Error(), "HTTP response to HTTPS client"), strings.Contains(err.Error(), "first record does not look like a TLS handshake"):
		return fmt.Errorf("%s does not speak TLS; does its address begin with http:// ? (%w)", where, err)
	case errors.As(err, &slow) && slow.Timeout():
		return fmt.Errorf("%s took too long: %w", where, err)
	default:
		return fmt.Errorf("cannot reach %s: %w; %s", where, err, checkEndpoint)
	}
}

// failure is what a server said instead of doing it, and what to do about it.
func (s *Store) failure(ctx context.Context, answer *http.Response) error {
	var said struct{ Code, Message, Region string }
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	_ = xml.Unmarshal(body, &said) // what is no XML has neither
	hidden := s.keys(ctx)
	said.Code, said.Message, said.Region = hidden(said.Code), hidden(said.Message), hidden(said.Region)
	text := fmt.Sprintf("%s answered %s %.100q: %.300q", s.base.Host, answer.Status, said.Code, said.Message)
	region := answer.Header.Get("X-Amz-Bucket-Region")
	if region == "" {
		region = said.Region
	}
	switch {
	case answer.StatusCode == http.StatusNotFound && (said.Code == "NoSuchKey" || said.Code == "NotFound"):
		return fmt.Errorf("%w: it is not in %s", blob.ErrNotFound, s.base)
	case said.Code == "NoSuchBucket":
		return fmt.Errorf("the bucket %s does not exist: %s", s.options.Bucket, text)
	case region != "" && region != s.options.Region && answer.StatusCode >= 300 && answer.StatusCode <= 403:
		return fmt.Errorf("%s; the bucket's region is %.40q: set AWS_REGION to it", text, region)
	}
	if advice := s.advice(answer.StatusCode, said.Code); advice != "" {
		text += "; " + advice
	}
	return errors.New(text)
}

// advice is what to do about a code of S3's, "" when nobody here knows.
func (s *Store) advice(status int, code string) string {
	switch code {
	case "InvalidAccessKeyId":
		return "AWS_ACCESS_KEY_ID is not known there"
	case "SignatureDoesNotMatch":
		return "AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID, or AWS_REGION is not the server's"
	case "RequestTimeTooSkewed":
		return "set this machine's clock"
	case "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
		return "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN anew and start again: they are read once"
	case "SlowDown", "ServiceUnavailable", "InternalError":
		return "it is overloaded, and may be asked again"
	}
	switch {
	case status == http.StatusForbidden:
		return "the keys need s3:GetObject and s3:PutObject on " + s.options.Bucket + "; without the permission s3:ListBucket S3 says this of what it lacks, too"
	case code == "" && status != http.StatusServiceUnavailable:
		return "that is no answer of S3: " + checkEndpoint
	}
	return ""
}

// keys takes the keys out of a text: what a server says may repeat them.
func (s *Store) keys(ctx context.Context) func(string) string {
	c, err := s.options.Credentials.Retrieve(ctx)
	if err != nil {
		return func(string) string { return "(not shown: the keys in it cannot be told)" }
	}
	return mask.New(map[string]string{"session token": c.SessionToken, "secret access key": c.SecretAccessKey, "access key id": c.AccessKeyID}).Text
}
