package main

import (
	"sync"
	"time"

	sdkclient "go.temporal.io/sdk/client"
)

// meter sums the worker's counters and timers, whatever their tags.
type meter struct {
	mu     sync.Mutex
	counts map[string]int64
	times  map[string]time.Duration
}

// The worker's metrics of a fold.
const (
	metricFoldEvents = "turnkeel_fold_events_read"
	metricFoldTime   = "turnkeel_fold_seconds"
)

func newMeter() *meter { return &meter{counts: map[string]int64{}, times: map[string]time.Duration{}} }

// folds gives what was read so far, in events and time.
func (m *meter) folds() (int64, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[metricFoldEvents], m.times[metricFoldTime]
}

func (m *meter) WithTags(map[string]string) sdkclient.MetricsHandler { return m }

func (m *meter) Counter(name string) sdkclient.MetricsCounter { return meterCounter{m, name} }

func (m *meter) Gauge(string) sdkclient.MetricsGauge { return meterGauge{} }

func (m *meter) Timer(name string) sdkclient.MetricsTimer { return meterTimer{m, name} }

type meterCounter struct {
	m    *meter
	name string
}

func (c meterCounter) Inc(n int64) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	c.m.counts[c.name] += n
}

type meterTimer struct {
	m    *meter
	name string
}

func (t meterTimer) Record(d time.Duration) {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	t.m.times[t.name] += d
}

type meterGauge struct{}

func (meterGauge) Update(float64) {}
