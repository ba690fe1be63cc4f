package mcptools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnkeel/turnkeel/tooldefs"
)

const (
	// protocolVersion is the one that is asked for. It has a handshake, pings
	// and notifications that every server knows; a later one begins with a
	// request that older servers may leave unanswered.
	protocolVersion = "2025-11-25"

	// cutGrace is how long a request may go on once its time is over, to tell
	// the server; then its connection is ended, since a request that is still
	// being written then never ends by itself.
	cutGrace = time.Second

	// resumeTries is how often a cut event stream is asked to go on from where
	// it was. It sends no call again.
	resumeTries = 2

	// maxTools, maxPages and maxListing, in bytes, bound a listing.
	maxTools   = 20_000
	maxPages   = 1000
	maxListing = maxMessageBytes
)

// session is one connection to a server, from its start to its end.
type session struct {
	mcp  *mcp.ClientSession
	kill func() // ends it at once; requests under way fail then
	stop func() // ends it in order, within seconds
	over chan struct{}
	why  error // once over is closed

	served atomic.Bool // it has answered a call

	dropOnce sync.Once
	dropped  chan struct{} // closed when it is not to be used any more
}

// drop says that the session is not to be used any more. What is under way may
// end.
func (s *session) drop() { s.dropOnce.Do(func() { close(s.dropped) }) }

// usable says that it is not known to be over.
func (s *session) usable() bool {
	select {
	case <-s.over:
		return false
	case <-s.dropped:
		return false
	default:
		return true
	}
}

// fault is why it is over, as far as that is known.
func (s *session) fault() error {
	select {
	case <-s.over:
		return s.why
	default:
		return nil
	}
}

// handlers are what a session tells of by itself.
type handlers struct {
	changed  func()
	progress func(token string, p *mcp.ProgressNotificationParams)
}

// dial starts or reaches the server and greets it.
func (s Server) dial(ctx context.Context, log *slog.Logger, h handlers) (*session, error) {
	if s.URL != "" {
		return s.dialHTTP(ctx, log, h)
	}
	said := &lastWords{mask: s.mask(), log: func(line string) { log.Debug("the server says", "line", line) }}
	p, err := startProcess(s.Command, s.Env, s.Dir, said)
	if err != nil {
		return nil, err
	}
	noise := func(line string) { log.Debug("the server printed what nobody here reads", "line", line) }
	session, err := s.greet(ctx, &mcp.IOTransport{
		Reader: newLineReader(p.stdout, stdioLine(noise), nil), Writer: p.stdin, MaxLineLength: -1, // the reader bounds it
	}, p.kill, p.stop, log, h)
	if err != nil {
		p.kill()
		<-p.exited
		return nil, p.lastWords(err)
	}
	return session, nil
}

func (s Server) dialHTTP(ctx context.Context, log *slog.Logger, h handlers) (*session, error) {
	client := newHTTPClient(s.Header, s.mask())
	session, err := s.greet(ctx, &mcp.StreamableClientTransport{
		Endpoint: s.URL, HTTPClient: client, MaxRetries: resumeTries,
		MaxEventSize: -1, // our reader bounds it
		// A stream for what the server tells unasked is nothing that a call
		// needs, and the SDK waits for its beginning and ends the session, with
		// the calls under way, when it ends three times.
		DisableStandaloneSSE: true,
	}, func() {}, client.CloseIdleConnections, log, h)
	if err != nil {
		client.CloseIdleConnections()
	}
	return session, err
}

func (s Server) greet(ctx context.Context, transport mcp.Transport, kill, stop func(), log *slog.Logger, h handlers) (*session, error) {
	var changed sync.Once
	client := mcp.NewClient(&mcp.Implementation{Name: "turnkeel", Version: "1"}, &mcp.ClientOptions{
		Logger:         log,
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}, // it would send a call again
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			changed.Do(h.changed) // a server may say it without an end
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			if token, ok := r.Params.ProgressToken.(string); ok {
				h.progress(token, r.Params)
			}
		},
	})
	connected, err := bounded(ctx, kill, func() (*mcp.ClientSession, error) {
		return client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: protocolVersion})
	})
	if err != nil {
		return nil, fmt.Errorf("it does not answer as an MCP server: %w", err)
	}
	out := &session{mcp: connected, over: make(chan struct{}), dropped: make(chan struct{})}
	var once sync.Once
	closed := make(chan struct{})
	shut := func() { // the SDK waits for requests under way
		once.Do(func() {
			go func() {
				defer close(closed)
				_ = connected.Close()
			}()
		})
	}
	out.kill = func() { kill(); shut() }
	out.stop = func() {
		shut()
		select {
		case <-closed:
		case <-time.After(stopGrace):
		}
		stop()
	}
	go func() {
		out.why = connected.Wait()
		close(out.over)
	}()
	return out, nil
}

// list is every tool that the server has now.
func (s *session) list(ctx context.Context) ([]*mcp.Tool, error) {
	return bounded(ctx, s.kill, func() ([]*mcp.Tool, error) {
		var all []*mcp.Tool
		params, seen, size := &mcp.ListToolsParams{}, map[string]bool{}, 0
		for {
			page, err := s.mcp.ListTools(ctx, params)
			if err != nil {
				return nil, err
			}
			all, size = append(all, page.Tools...), size+sizeOf(page)
			switch next := page.NextCursor; {
			case next == "":
				return all, nil
			case seen[next]:
				return nil, fmt.Errorf("its listing of tools never ends: page %d leads to a page that was read already", len(seen)+1)
			case size > maxListing:
				return nil, fmt.Errorf("its listing of tools has more than %d bytes", maxListing)
			case len(all) > maxTools || len(seen) >= maxPages:
				return nil, fmt.Errorf("its listing of tools does not end after %d tools on %d pages", len(all), len(seen)+1)
			default:
				seen[next], params.Cursor = true, next
			}
		}
	})
}

// call sends a call, once.
func (s *session) call(ctx context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	return bounded(ctx, s.kill, func() (*mcp.CallToolResult, error) {
		result, err := s.mcp.CallTool(ctx, params)
		if errors.Is(err, mcp.ErrConnectionClosed) { // refused before it was written
			return nil, tooldefs.NotExecuted(err)
		}
		if err == nil {
			s.served.Store(true)
		}
		return result, err
	})
}

// alive says whether the server answers. Its own refusal is an answer, too: many
// know no ping.
func (s *session) alive(ctx context.Context) error {
	_, err := bounded(ctx, s.kill, func() (struct{}, error) { return struct{}{}, s.mcp.Ping(ctx, nil) })
	if err != nil && !tooldefs.IsUnknown(callError(err)) {
		return nil
	}
	return err
}

// bounded runs f, which ends with ctx unless it is stuck in writing: then kill
// ends what it writes to.
func bounded[T any](ctx context.Context, kill func(), f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := f()
		done <- answer{value, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-done:
		return a.value, a.err
	case <-time.After(cutGrace):
		kill()
		var none T
		return none, fmt.Errorf("the server took nothing in any more and was disconnected: %w", ctx.Err())
	}
}
