package main

import (
	"fmt"
	"io"
)

// ParkedReport is the outcome of --parked.
type ParkedReport struct {
	Date    string  `json:"date"`
	Machine Machine `json:"machine"`
	Turns   int     `json:"turns"`
	Cache   int     `json:"sticky_cache"`

	Fresh  reading `json:"worker_fresh"` // before its first turn
	Idle   reading `json:"worker_idle"`  // after turns that have ended
	Parked reading `json:"worker_parked"`
	After  reading `json:"worker_after"` // once all have completed
	Server int64   `json:"server_rss_bytes_parked"`

	ParkSeconds  float64 `json:"park_seconds"` // to start them all and park them
	AskSeconds   float64 `json:"ask_seconds"`  // to ask them all what they wait for
	SweepSeconds float64 `json:"sweep_seconds"`
	DoneSeconds  float64 `json:"done_seconds"` // from the sweep's begin until all have completed
	PerSecond    float64 `json:"approvals_per_second"`

	// From the client's decision to the start of the tool.
	Alone  Delay `json:"resume_alone_ms"`
	Resume Delay `json:"resume_in_sweep_ms"`
}

// Delay is a spread of delays, in milliseconds.
type Delay struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
	N   int     `json:"n"`
}

func delayOf(ms []float64) Delay {
	return Delay{quantile(ms, 0.5), quantile(ms, 0.95), quantile(ms, 0.99), quantile(ms, 1), len(ms)}
}

func (r ParkedReport) print(w io.Writer) {
	fmt.Fprintf(w, "parked %s · %s/%s, %d CPUs, %s · %d turns, sticky cache %d, %d decisions at a time\n\n",
		r.Date, r.Machine.OS, r.Machine.Arch, r.Machine.CPUs, r.Machine.Go, r.Turns, r.Cache, parkedAtOnce)
	rows := []struct {
		name string
		reading
	}{{"before its first turn", r.Fresh}, {"idle", r.Idle}, {"all parked", r.Parked}, {"all completed", r.After}}
	for _, row := range rows {
		fmt.Fprintf(w, "worker, %-22s %6.1f MB resident, %6.1f MB heap, %5d goroutines\n", row.name, mb(row.RSS), mb(row.Heap), row.Goroutines)
	}
	fmt.Fprintf(w, "parked over idle              %+7.1f MB (must ≤ 30), %+d goroutines (must ≤ 300)\n",
		mb(r.Parked.RSS-r.Idle.RSS), r.Parked.Goroutines-r.Idle.Goroutines)
	fmt.Fprintf(w, "server, all parked            %7.1f MB resident\n\n", mb(r.Server))
	fmt.Fprintf(w, "parked in %.1f s · asked in %.1f s · decided in %.1f s: %.0f approvals/s · all completed %.1f s after the sweep began\n",
		r.ParkSeconds, r.AskSeconds, r.SweepSeconds, r.PerSecond, r.DoneSeconds)
	fmt.Fprintf(w, "from the decision to the tool's start, ms: one at a time p50 %.0f, p99 %.0f · in the sweep p50 %.0f, p95 %.0f, p99 %.0f\n",
		r.Alone.P50, r.Alone.P99, r.Resume.P50, r.Resume.P95, r.Resume.P99)
}

func mb(bytes int64) float64 { return float64(bytes) / (1 << 20) }
