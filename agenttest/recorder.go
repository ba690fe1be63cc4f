package agenttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/turnkeel/turnkeel/internal/scripted"
	"github.com/turnkeel/turnkeel/internal/wire"
)

// maxRecordedBody bounds one answer that is recorded, in bytes.
const maxRecordedBody = 16 << 20

// RecorderOptions say what a [Recorder] records.
type RecorderOptions struct {
	// Target is the base URL of the endpoint, as an agent's base_url. Required.
	Target string

	// Frames records the frames of a stream as they came, for a script that
	// plays an endpoint's oddities. Otherwise the script says what was answered:
	// text, calls and usage. An answer whose secret only shows when its frames
	// are put together is recorded the second way in any case.
	Frames bool

	// Secrets are texts to remove beside the request's own credentials and what
	// has the shape of a key.
	Secrets []string

	// Client calls the endpoint. If nil, a client without a timeout.
	Client *http.Client
}

// Recorder is a proxy before a real endpoint that writes down a [Script] of
// what it answers: point an agent's base_url at it, run turns, and take the
// script. Credentials never get into it: request headers are not recorded, of
// the response's only those that matter to a client, and their values are
// removed wherever a body repeats them. Personal data that users or tools sent
// stays: read a script before you share it. It is safe for concurrent use.
type Recorder struct {
	options RecorderOptions
	target  *url.URL
	server  *http.Server
	url     string
	cancel  context.CancelFunc
	served  chan struct{}

	mu  sync.Mutex
	log recording
}

// StartRecorder starts a recorder on addr ("127.0.0.1:0" is a free port).
// Close it.
func StartRecorder(addr string, o RecorderOptions) (*Recorder, error) {
	target, err := url.Parse(strings.TrimRight(o.Target, "/"))
	if err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		return nil, errors.New("recorder: Target is not an http or https URL")
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("recorder: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &Recorder{
		options: o, target: target, url: "http://" + listener.Addr().String() + "/v1",
		cancel: cancel, served: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/", r.proxy)
	r.server = &http.Server{
		Handler:           mux,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
	}
	go func() {
		defer close(r.served)
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.fault(fmt.Errorf("recorder: %w", err))
		}
	}()
	return r, nil
}

// URL is the recorder's base URL; it ends in /v1.
func (r *Recorder) URL() string { return r.url }

// Close cuts all connections and waits until the recorder is gone. The script
// can still be taken. It may be called more than once.
func (r *Recorder) Close() {
	r.cancel()
	_ = r.server.Close()
	<-r.served
}

// Script is what was recorded so far. It is an error if nothing was, or if
// something could not be recorded.
func (r *Recorder) Script() (Script, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.log.err != nil {
		return Script{}, r.log.err
	}
	s := r.log.script()
	return s, s.Check()
}

// WriteFile writes the script as YAML that [LoadScript] reads, for the owner's
// eyes only.
func (r *Recorder) WriteFile(path string) error {
	s, err := r.Script()
	if err != nil {
		return err
	}
	data, err := yaml.Marshal(s)
	if err != nil {
		return fmt.Errorf("recorder: %w", err)
	}
	return os.WriteFile(path, data, 0o600)
}

func (r *Recorder) fault(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.log.err == nil {
		r.log.err = err
	}
}

// proxy hands a request on and its answer back, and writes the answer down if
// it is one of a model.
func (r *Recorder) proxy(w http.ResponseWriter, in *http.Request) {
	asked, _ := scripted.ReadRequest(in) // what is illegal is the endpoint's to say
	resp, err := r.forward(in, asked.Body)
	if err != nil {
		r.fault(fmt.Errorf("recorder: %s", wire.Scrub(err.Error(), r.secrets(in))))
		http.Error(w, "the recorder cannot reach its target", http.StatusBadGateway)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	for name, values := range resp.Header {
		if name != "Content-Length" && name != "Transfer-Encoding" && name != "Connection" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(resp.StatusCode)
	body, readErr := relay(w, resp.Body)
	if !strings.HasSuffix(in.URL.Path, "/chat/completions") || in.Context().Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log.add(taken{
		request: asked, status: resp.StatusCode, header: resp.Header, body: body, cut: readErr != nil,
		frames: r.options.Frames, secrets: r.secrets(in),
	})
	if readErr != nil {
		panic(http.ErrAbortHandler) // break as the target did
	}
}

func (r *Recorder) forward(in *http.Request, body []byte) (*http.Response, error) {
	to := *r.target
	to.Path += strings.TrimPrefix(in.URL.Path, "/v1")
	to.RawQuery = in.URL.RawQuery
	out, err := http.NewRequestWithContext(in.Context(), in.Method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header = in.Header.Clone()
	out.Header.Del("Accept-Encoding") // a compressed body cannot be read
	out.Header.Del("Connection")
	return r.options.Client.Do(out)
}

// secrets are a request's credentials and the configured ones.
func (r *Recorder) secrets(in *http.Request) []string {
	all := append([]string(nil), r.options.Secrets...)
	for _, name := range []string{"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key", "Cookie", "Openai-Organization", "Openai-Project"} {
		for _, value := range in.Header.Values(name) {
			scheme, rest, ok := strings.Cut(value, " ")
			if ok && (strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "Basic")) {
				value = rest
			}
			all = append(all, strings.TrimSpace(value))
		}
	}
	if password, ok := r.target.User.Password(); ok {
		all = append(all, password)
	}
	for _, values := range in.URL.Query() {
		all = append(all, values...)
	}
	return all
}

// relay copies a body as it arrives and returns what it was.
func relay(w http.ResponseWriter, from io.Reader) ([]byte, error) {
	var body []byte
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if len(body) < maxRecordedBody {
				body = append(body, buf[:n]...)
			}
			if _, err := w.Write(buf[:n]); err != nil {
				return body, err
			}
			_ = http.NewResponseController(w).Flush()
		}
		switch {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return body, err
		}
	}
}
