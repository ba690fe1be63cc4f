package devproc

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const helperEnv = "TURNKEEL_DEVPROC_HELPER"

// TestMain runs the test binary as one of the helper processes when asked to.
func TestMain(m *testing.M) {
	switch os.Getenv(helperEnv) {
	case "build":
		helperBuild()
	case "serve":
		helperServe()
	default:
		os.Exit(m.Run())
	}
}

// helperBuild builds os.Args[1] into the cache os.Args[2] and prints the
// phases it goes through.
func helperBuild() {
	b := builder{src: os.Args[1], cache: os.Args[2]}
	phase := ""
	_, err := b.ensure(context.Background(), func(p Progress) {
		if p.Phase != phase {
			phase = p.Phase
			fmt.Println(phase)
		}
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// helperServe starts the binary os.Args[1], prints the server as JSON and
// waits to be killed.
func helperServe() {
	s, err := Start(context.Background(), os.Args[1], Options{Dir: os.Args[2]})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(s)
	<-s.Done()
}

// helper starts the test binary as a helper process; lines delivers its
// standard output and is closed at its end.
func helper(t *testing.T, role string, args ...string) (cmd *exec.Cmd, lines <-chan string) {
	t.Helper()
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), helperEnv+"="+role)
	cmd.Stderr = os.Stderr
	out, w := io.Pipe()
	cmd.Stdout = w
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		_ = w.Close()
		close(exited)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-exited
	})
	ch := make(chan string, 100)
	go func() {
		defer close(ch)
		for sc := bufio.NewScanner(out); sc.Scan(); {
			ch <- sc.Text()
		}
	}()
	return cmd, ch
}

// next returns the next line of a helper, or fails.
func next(t *testing.T, lines <-chan string) string {
	t.Helper()
	select {
	case l, ok := <-lines:
		if !ok {
			t.Fatal("the helper ended early")
		}
		return l
	case <-time.After(time.Minute):
		t.Fatal("the helper says nothing")
	}
	return ""
}

// tinyModule writes a module whose program stands in for devserver/ where a
// test is about the build, not about what is built.
func tinyModule(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/tiny\n\ngo 1.26.0\n", 0o644)
	write(t, filepath.Join(dir, "main.go"), "package main\n\nfunc main() {"+body+"}\n", 0o644)
	return dir
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// slowGo puts a go command into PATH whose build never ends, and returns the
// file in which it writes the process IDs of itself and of its compiler.
func slowGo(t *testing.T) (pids string) {
	t.Helper()
	dir := t.TempDir()
	pids = filepath.Join(dir, "pids")
	write(t, filepath.Join(dir, "go"), `#!/bin/sh
case $1 in
env) printf 'go1.slow\nany\nany\n' ;;
list) echo example.com/tiny ;;
build) sleep 600 & echo $$ $! >"`+pids+`.tmp"; mv "`+pids+`.tmp" "`+pids+`"; wait ;;
esac
`, 0o755)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return pids
}

// eventually waits up to 20 s for cond.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if cond() {
			return
		}
	}
	t.Fatalf("not within 20 s: %s", what)
}
