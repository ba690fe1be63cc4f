package tests

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	good, _ := os.ReadFile(config)
	s := strings.NewReplacer("7233", "17233", "7234", "17234", "7235", "17235", "7239", "17239", "7243", "17243", "global:", "global:\n  pprof: {port: 17936}").Replace(string(good))
	if e := os.Getenv("ZZ"); e != "" {
		kv := strings.Split(e, "=>")
		s = strings.ReplaceAll(s, kv[0], kv[1])
	}
	cf := t.TempDir() + "/c.yaml"
	os.WriteFile(cf, []byte(s), 0o600)
	p := launch(t, "--config", cf, "--db", newDB(t)).await()
	c := p.client()
	work(t, c)
	cpu := func() string {
		b, _ := exec.Command("sh", "-c", fmt.Sprintf("awk '{print $14, $15}' /proc/%d/stat", p.PID)).Output()
		return strings.TrimSpace(string(b))
	}
	go func() {
		time.Sleep(time.Second)
		exec.Command("curl", "-s", "-o", "/tmp/zz.prof", "http://127.0.0.1:17936/debug/pprof/profile?seconds=8").Run()
	}()
	fmt.Println("cpu", cpu())
	for i := range 20 {
		b := time.Now()
		run(t, c, fmt.Sprint("c", i), chain, 50).Get(context.Background(), nil)
		if i%5 == 0 {
			fmt.Println("chain each", time.Since(b)/50)
		}
	}
	fmt.Println("cpu", cpu())
}
