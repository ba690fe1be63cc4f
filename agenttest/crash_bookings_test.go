package agenttest_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// startBookings is the service of [ExampleCrash].
func startBookings(t *testing.T) (url string, keys func() []string) {
	var mu sync.Mutex
	var all []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, r.Header.Get("Idempotency-Key"))
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}
