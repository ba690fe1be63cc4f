package support

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// payAs makes this test binary a process that pays one refund: see
// TestRefundFromManyProcesses.
const payAs = "SUPPORT_TEST_LEDGER"

func TestMain(m *testing.M) {
	path := os.Getenv(payAs)
	if path == "" {
		os.Exit(m.Run())
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadByte(); err != nil { // the starting shot
		os.Exit(3)
	}
	if _, err := refund(context.Background(), ledger{path: path}, "k1", teapot()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func teapot() RefundOrder { return RefundOrder{OrderID: "A-1001", AmountCents: 4200} }

func newLedger(t *testing.T) ledger {
	t.Helper()
	return ledger{path: filepath.Join(t.TempDir(), "ledger.jsonl")}
}

func lines(t *testing.T, l ledger) []string {
	t.Helper()
	data, err := os.ReadFile(l.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func TestRefundSameKeyPaysOnce(t *testing.T) {
	t.Parallel()
	book := newLedger(t)
	first, err := refund(t.Context(), book, "k1", teapot())
	if err != nil {
		t.Fatal(err)
	}
	again, err := refund(t.Context(), book, "k1", teapot())
	if err != nil || again != first {
		t.Errorf("got %+v, %v, want %+v", again, err, first)
	}
	if got := lines(t, book); len(got) != 1 || !strings.HasPrefix(got[0], `{"key":"k1","order_id":"A-1001","amount_cents":4200,"at":"`) {
		t.Errorf("got %q", got)
	}
	if _, err := refund(t.Context(), book, "k2", teapot()); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, book); len(got) != 2 {
		t.Errorf("another key: got %q", got)
	}
}

func TestRefundRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		in         RefundOrder
	}{
		{"unknown order", "there is no order A-9", RefundOrder{"A-9", 1}},
		{"too much", "no more can be refunded", RefundOrder{"A-1001", 4201}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			book := newLedger(t)
			_, err := refund(t.Context(), book, "k1", tt.in)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(book.path); err == nil {
				t.Error("something was written")
			}
		})
	}
}

func TestRefundAfterACutLine(t *testing.T) {
	t.Parallel()
	book := newLedger(t)
	if _, err := refund(t.Context(), book, "k0", teapot()); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(book.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"key":"k1","order_id":"A-1001","amount_cents":4200,"at":"2026-` + strings.Repeat("0", 200)); err != nil {
		t.Fatal(err)
	}
	file.Close()
	if _, err := refund(t.Context(), book, "k1", teapot()); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, book); len(got) != 2 || !strings.HasSuffix(got[1], `"}`) {
		t.Errorf("got %q", got)
	}
}

func TestRefundWaitsForTheLockOnlyAsLongAsItMay(t *testing.T) {
	t.Parallel()
	book := newLedger(t)
	holder, err := os.Create(book.path)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if err := lock(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := refund(ctx, book, "k1", teapot()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRefundFromManyGoroutines(t *testing.T) {
	t.Parallel()
	book := newLedger(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := refund(t.Context(), book, "k1", teapot()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := lines(t, book); len(got) != 1 {
		t.Errorf("got %d lines", len(got))
	}
}

func TestRefundFromManyProcesses(t *testing.T) {
	t.Parallel()
	book := newLedger(t)
	var shots []io.Closer
	var processes []*exec.Cmd
	for range 5 {
		p := exec.CommandContext(t.Context(), os.Args[0])
		p.Env = append(os.Environ(), payAs+"="+book.path)
		p.Stderr = os.Stderr
		in, err1 := p.StdinPipe()
		out, err2 := p.StdoutPipe()
		if err := errors.Join(err1, err2, p.Start()); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		shots, processes = append(shots, writeOnClose{in}), append(processes, p)
	}
	for _, s := range shots {
		s.Close()
	}
	for _, p := range processes {
		if err := p.Wait(); err != nil {
			t.Error(err)
		}
	}
	if got := lines(t, book); len(got) != 1 {
		t.Errorf("got %d lines", len(got))
	}
}

type writeOnClose struct{ io.WriteCloser }

func (w writeOnClose) Close() error {
	_, err := w.Write([]byte("!"))
	return errors.Join(err, w.WriteCloser.Close())
}
