package tests

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkServer reports what a workflow pays to the server: go test -run - -bench . -benchtime 10x
func BenchmarkServer(b *testing.B) {
	for _, server := range []struct {
		name string
		args []string
	}{{"tuned", nil}, {"stock", []string{"--stock"}}} {
		c := start(b, newDB(b), server.args...).client()
		work(b, c)
		for _, load := range []struct {
			name, unit string
			workflow   any
			n          int
		}{
			{"chain", "ms/activity", chain, 50},
			{"fan", "ms/fan-out", fan, 16},
			{"empty", "ms/workflow", chain, 0},
		} {
			b.Run(server.name+"/"+load.name, func(b *testing.B) {
				begin := time.Now()
				for i := range b.N {
					r := run(b, c, fmt.Sprintf("%s-%d-%d", load.name, b.N, i), load.workflow, load.n)
					if err := r.Get(context.Background(), nil); err != nil {
						b.Fatal(err)
					}
				}
				per := float64(time.Since(begin).Microseconds()) / 1000 / float64(b.N)
				if load.name == "chain" {
					per /= float64(load.n)
				}
				b.ReportMetric(per, load.unit)
			})
		}
	}
}
