package agenttest_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/tooldefs"
)

type booking struct {
	Room string `json:"room"`
}

// bookingTools call the service that BOOKING_URL names.
func bookingTools() []*tooldefs.Tool {
	return []*tooldefs.Tool{tooldefs.Define(tooldefs.Spec[booking, string]{
		Name: "book", Description: "Books a room.", Effects: tooldefs.External, Class: tooldefs.Keyed,
		Handler: func(ctx context.Context, call *tooldefs.Call, in booking) (string, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("BOOKING_URL"), strings.NewReader(in.Room))
			if err != nil {
				return "", tooldefs.NotExecuted(err)
			}
			req.Header.Set("Idempotency-Key", call.IdempotencyKey())
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return "", tooldefs.Unknown(err)
			}
			return "booked", resp.Body.Close()
		},
	})}
}

// The kill harness for tools of one's own: the first function is the package's
// TestMain, the second a test. startBookings starts the service, or a twin of
// it, in the test; keys is what it has seen.
func ExampleCrash() {
	testMain := func(m *testing.M) {
		agenttest.CrashWorker(bookingTools) // in a worker process this never returns
		os.Exit(m.Run())
	}
	testBookings := func(t *testing.T) {
		url, keys := startBookings(t)
		report := agenttest.Crash(t, agenttest.CrashOptions{
			Script: agenttest.Script{Steps: []agenttest.Step{
				{Calls: []agenttest.ScriptCall{{Name: "book", Args: map[string]any{"room": "7"}}}},
				{Text: "Room 7 is yours."},
			}},
			Env: []string{"BOOKING_URL=" + url},
			Ledger: func() ([]agenttest.Arrival, error) {
				seen := map[string]bool{}
				var all []agenttest.Arrival
				for _, key := range keys() {
					all = append(all, agenttest.Arrival{Key: key, Deduplicated: seen[key]})
					seen[key] = true
				}
				return all, nil
			},
			Kills: 20,
		})
		t.Logf("\n%s", report)
	}
	_, _ = testMain, testBookings // go test calls them
}
