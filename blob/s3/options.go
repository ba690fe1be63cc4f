package s3

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Options say where blobs are kept.
type Options struct {
	// Bucket exists already. Required.
	Bucket string

	// Prefix begins the keys, without a slash at either end; letters, digits,
	// "._-" and "/". May be empty.
	Prefix string

	// Region is the bucket's. Required by S3; other servers mostly ignore it. If
	// empty with an Endpoint, us-east-1.
	Region string

	// Endpoint is the address of a server that is not AWS's, as
	// "https://minio.internal:9000". The bucket is then part of the path. If
	// empty, S3.
	Endpoint string

	// Credentials are asked for each request. Required. The module
	// github.com/aws/aws-sdk-go-v2/config has AWS's whole chain of them: roles,
	// profiles, instance metadata.
	Credentials aws.CredentialsProvider

	// Client makes the requests. If nil, one that gives up after a minute.
	Client *http.Client
}

// requestTimeout bounds one request, its body included.
const requestTimeout = time.Minute

var (
	bucketForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	prefixForm = regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)
)

// New checks the options; it makes no request.
func New(o Options) (*Store, error) {
	switch {
	case !bucketForm.MatchString(o.Bucket):
		return nil, fmt.Errorf("s3: %q is not a bucket's name", unsigned(o.Bucket))
	case o.Prefix != "" && !prefixForm.MatchString(o.Prefix):
		return nil, fmt.Errorf("s3: the prefix %q has other characters than letters, digits, \"._-\" and single slashes between them", o.Prefix)
	case o.Credentials == nil:
		return nil, errors.New("s3: no credentials")
	case o.Region == "" && o.Endpoint == "":
		return nil, errors.New("s3: no region: set AWS_REGION to the bucket's")
	}
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	base, err := o.base()
	if err != nil {
		return nil, err
	}
	client := http.Client{Timeout: requestTimeout}
	if o.Client != nil {
		client = *o.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Store{options: o, base: base, client: &client}, nil
}

// base is the address that keys are appended to. A bucket with a dot fits no
// certificate of S3's, and stands in the path.
func (o Options) base() (*url.URL, error) {
	address := o.Endpoint
	switch {
	case address != "":
	case strings.Contains(o.Bucket, "."):
		address = "https://s3." + o.Region + ".amazonaws.com"
	default:
		address = "https://" + o.Bucket + ".s3." + o.Region + ".amazonaws.com"
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.RawQuery != "" || base.User != nil {
		return nil, fmt.Errorf("s3: the endpoint %.200q is not the address of a server, as https://minio.internal:9000", unsigned(o.Endpoint))
	}
	if o.Endpoint != "" || strings.Contains(o.Bucket, ".") {
		base = base.JoinPath(o.Bucket)
	}
	if o.Prefix != "" {
		base = base.JoinPath(o.Prefix)
	}
	return base, nil
}

// Scheme begins the addresses that [FromEnv] takes.
const Scheme = "s3://"

// FromEnv makes a store of an address as "s3://bucket/prefix" and the variables
// of AWS's own tools: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
// AWS_SESSION_TOKEN, AWS_REGION or AWS_DEFAULT_REGION, and AWS_ENDPOINT_URL_S3 or
// AWS_ENDPOINT_URL. getenv gives "" for one that is not set. Profiles and roles
// are not read: see [Options.Credentials].
func FromEnv(address string, getenv func(string) string) (*Store, error) {
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(address, Scheme), "/")
	credentials := aws.Credentials{
		AccessKeyID: getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: getenv("AWS_SESSION_TOKEN"),
		Source: "environment",
	}
	address = Scheme + unsigned(strings.TrimPrefix(address, Scheme))
	if !credentials.HasKeys() {
		return nil, fmt.Errorf("%s: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", address)
	}
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} {
		if strings.ContainsFunc(getenv(name), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
			return nil, fmt.Errorf("%s: %s has a space or the end of a line in it, which no key has; set it anew", address, name)
		}
	}
	store, err := New(Options{
		Bucket: bucket, Prefix: strings.Trim(prefix, "/"),
		Region:      first(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION")),
		Endpoint:    first(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL")),
		Credentials: aws.NewCredentialsCache(static(credentials)),
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return store, nil
}

// unsigned is an address without what stands before an "@": people put keys there,
// and an error must not show them.
func unsigned(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address
	}
	scheme, _, ok := strings.Cut(address[:at], "://")
	if ok {
		return scheme + "://***@" + address[at+1:]
	}
	return "***@" + address[at+1:]
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
