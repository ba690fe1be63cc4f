package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// ReadAnswer reads the recorded response of an endpoint as [Client.Complete]
// would have: its answer, or an [*Error].
func ReadAnswer(resp *http.Response) (Answer, error) {
	ctx, idle := watchIdle(context.Background(), time.Hour, time.Hour, 0)
	defer idle.stop()
	c := New(Endpoint{})
	x := &exchange{client: c, idle: idle, requestID: requestID(resp.Header)}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		data, _, err := readBounded(resp.Body, maxErrorBody)
		if err != nil {
			return Answer{}, c.failure(ctx, ctx, x, err)
		}
		return Answer{}, c.scrub.error(statusError(resp, data, c.endpoint.BaseURL))
	}
	if err := x.open(resp, resp.Body); err != nil {
		return Answer{}, c.failure(ctx, ctx, x, err)
	}
	a := &assembly{}
	err := a.readAll(x.body)
	if err := x.ended(a, err); err != nil {
		return Answer{}, c.failure(ctx, ctx, x, err)
	}
	return a.answer(0), nil
}

// readAll takes in every frame up to the end.
func (a *assembly) readAll(r io.Reader) error {
	data, err := io.ReadAll(r)
	for line := range strings.SplitSeq(string(data), "\n") {
		if frame, ok := strings.CutPrefix(line, "data: "); ok {
			if _, bad := a.add([]byte(frame)); bad != nil {
				return bad
			}
		}
	}
	return errors.Join(err, io.EOF)
}

// Scrub removes secrets, and whatever has the shape of an API key, from a text.
func Scrub(text string, secrets []string) string {
	for _, s := range secrets {
		text = newScrubber(s).text(text)
	}
	return scrubber{}.text(text)
}
