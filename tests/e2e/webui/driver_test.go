package webui

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// browser is a headless Chromium, driven over the W3C WebDriver protocol. Each
// test has its own; it ends with the test.
type browser struct {
	t       *testing.T
	session string // its URL at the driver
}

// The window, in CSS pixels. The Web UI folds its columns when it is narrow.
const windowWidth, windowHeight = 1440, 1400

var driverPort = regexp.MustCompile(`started successfully on port (\d+)`)

// newBrowser starts a driver and a browser with a profile of its own.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	installChromium(t)
	b := &browser{t: t, session: startDriver(t)}
	args := []string{
		"--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--no-sandbox", // it opens this test's pages only; root has none, nor have many containers
		fmt.Sprintf("--window-size=%d,%d", windowWidth, windowHeight), "--user-data-dir=" + t.TempDir(),
	}
	var made struct {
		SessionID string `json:"sessionId"`
	}
	b.call(http.MethodPost, "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"browserName": "chrome", "goog:chromeOptions": map[string]any{"args": args},
	}}}, &made)
	b.session += "/session/" + made.SessionID
	t.Cleanup(func() { b.call(http.MethodDelete, "", nil, nil) })
	return b
}

// startDriver runs chromedriver on a port of its choice and gives its URL. It
// chooses for IPv6 first, and ends when another process has that port of IPv4:
// so it may begin again.
func startDriver(t *testing.T) string {
	t.Helper()
	var said string
	for range 10 {
		var url string
		if url, said = tryDriver(t); url != "" {
			return url
		}
	}
	t.Fatalf("%s did not start:\n%s", chromedriver, said)
	return ""
}

func tryDriver(t *testing.T) (url, said string) {
	t.Helper()
	driver := exec.Command(chromedriver, "--port=0")
	driver.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the browser is in its group
	out, err := driver.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := driver.Start(); err != nil {
		t.Fatalf("start %s: %v", chromedriver, err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-driver.Process.Pid, syscall.SIGKILL)
		_ = driver.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text() + "\n"
		if m := driverPort.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }() // so that it is never stuck on a full pipe
			return "http://127.0.0.1:" + m[1], said
		}
	}
	return "", said
}

// call sends a command of the protocol; out, if not nil, gets its value.
func (b *browser) call(method, path string, in, out any) {
	b.t.Helper()
	var body io.Reader
	if method == http.MethodPost {
		data, err := json.Marshal(in)
		if err != nil {
			b.t.Fatal(err)
		}
		body = bytes.NewReader(data)
	}
	// Not the test's context: the browser is closed after that has ended.
	request, err := http.NewRequest(method, b.session+path, body) //nolint:noctx // see above
	if err != nil {
		b.t.Fatal(err)
	}
	response, err := (&http.Client{Timeout: time.Minute}).Do(request)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.t.Fatalf("%s %s: %s, %v\n%.2000s", method, path, response.Status, err, data)
	}
	var answer struct {
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		b.t.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(answer.Value, out); err != nil {
			b.t.Fatalf("%s %s: %v in %.200s", method, path, err, answer.Value)
		}
	}
}

// open goes to a URL.
func (b *browser) open(url string) {
	b.t.Helper()
	b.call(http.MethodPost, "/url", map[string]any{"url": url}, nil)
}

// eval runs the body of a JavaScript function in the page; out gets what it
// returns.
func (b *browser) eval(script string, out any, args ...any) {
	b.t.Helper()
	if args == nil {
		args = []any{}
	}
	b.call(http.MethodPost, "/execute/sync", map[string]any{"script": script, "args": args}, out)
}

// picture is the window as a PNG.
func (b *browser) picture() []byte {
	b.t.Helper()
	var encoded string
	b.call(http.MethodGet, "/screenshot", nil, &encoded)
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

// in is the browser for a subtest, which it then fails.
func (b *browser) in(t *testing.T) *browser { return &browser{t: t, session: b.session} }
