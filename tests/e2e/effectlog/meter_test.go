package effectlog

import (
	"sync"
	"time"

	sdkclient "go.temporal.io/sdk/client"
)

// meter sums what a client's metrics say, whatever their tags.
type meter struct {
	mu     sync.Mutex
	counts map[string]int64
	times  map[string]time.Duration
}

func newMeter() *meter { return &meter{counts: map[string]int64{}, times: map[string]time.Duration{}} }

func (m *meter) WithTags(map[string]string) sdkclient.MetricsHandler { return m }

func (m *meter) Counter(name string) sdkclient.MetricsCounter { return counter{m, name} }

func (m *meter) Gauge(string) sdkclient.MetricsGauge { return gauge{} }

func (m *meter) Timer(name string) sdkclient.MetricsTimer { return timer{m, name} }

func (m *meter) count(name string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[name]
}

func (m *meter) time(name string) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.times[name]
}

type counter struct {
	m    *meter
	name string
}

func (c counter) Inc(n int64) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	c.m.counts[c.name] += n
}

type timer struct {
	m    *meter
	name string
}

func (t timer) Record(d time.Duration) {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	t.m.times[t.name] += d
}

type gauge struct{}

func (gauge) Update(float64) {}
