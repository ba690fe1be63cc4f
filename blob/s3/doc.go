// Package s3 keeps blobs in a bucket of S3 or of what speaks its protocol, for
// workers on several machines. It is worker-side. Entry points: [New], and
// [FromEnv] for the usual AWS_* variables.
//
// Two requests are all it makes: PUT and GET of one object, signed by AWS's own
// signer. It retries nothing and follows no redirect: Temporal repeats what
// failed.
package s3
