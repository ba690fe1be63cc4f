package mcptools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnkeel/turnkeel/internal/mask"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// connectWait is how long a call waits for a server that is being connected
// again.
const connectWait = 10 * time.Second

// Connection is a server that is kept up: when its connection ends, another is
// made, with backoff. Its tools stay those of the first listing. It is safe for
// concurrent use.
type Connection struct {
	server Server
	mask   mask.Mask
	log    *slog.Logger

	descriptors []*mcp.Tool
	tools       []*tooldefs.Tool
	disabled    []Disabled

	ctx    context.Context //nolint:containedctx // the connection's life
	cancel context.CancelFunc
	ended  chan struct{}

	calls    atomic.Int64  // sent and not answered yet
	doubted  atomic.Bool   // a request of this session ran out of its time
	doubt    chan struct{} // wakes the watch
	tokens   atomic.Int64
	progress sync.Map // token to func of its call

	mu    sync.Mutex
	live  *session      // nil: being connected
	news  chan struct{} // closed when live changes
	fault error         // of the last try to connect
}

// Connect starts or reaches a server and lists its tools. ctx and StartTimeout
// bound that; afterwards the connection lives until [Connection.Close]. An
// error holds no secret of the server's.
func Connect(ctx context.Context, s Server) (*Connection, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	c := &Connection{server: s, mask: s.mask(), ended: make(chan struct{}), news: make(chan struct{}), doubt: make(chan struct{}, 1)}
	c.log = s.logger(c.mask)
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	start, stop := context.WithTimeout(ctx, s.startTimeout())
	defer stop()
	first, err := c.dial(start)
	if err != nil {
		c.cancel()
		if start.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("not within %s: %w", s.startTimeout(), err)
		}
		return nil, errors.New(plainWords(c.mask.Text(err.Error())))
	}
	if c.descriptors, err = first.list(start); err != nil {
		first.kill()
		first.stop()
		c.cancel()
		return nil, errors.New(plainWords(c.mask.Text(fmt.Sprintf("it does not list its tools: %v", err))))
	}
	c.tools, c.disabled = wrapAll(c.descriptors, s.Options, func(d *mcp.Tool) (*tooldefs.Tool, error) {
		return wrap(c.shown(d), c.sender(s.pin(d)), s.Options)
	})
	for i := range c.disabled {
		c.disabled[i].Reason = c.mask.Text(c.disabled[i].Reason)
	}
	c.live = first
	go c.keepUp(first)
	return c, nil
}

// Tools are the server's tools that can be used, in the server's order.
func (c *Connection) Tools() []*tooldefs.Tool { return c.tools }

// Names are the server's own names of all its tools.
func (c *Connection) Names() []string {
	names := make([]string, len(c.descriptors))
	for i, d := range c.descriptors {
		names[i] = d.Name
	}
	return names
}

// Disabled are the tools that cannot be used, with the reasons.
func (c *Connection) Disabled() []Disabled { return c.disabled }

// Close ends the connection and the program, if there is one, within seconds.
// What is under way fails. It may be called more than once.
func (c *Connection) Close() error {
	c.cancel()
	<-c.ended
	return nil
}

func (c *Connection) dial(ctx context.Context) (*session, error) {
	return c.server.dial(ctx, c.log, handlers{
		changed: func() {
			c.log.Warn("the server's tools have changed; those that differ are refused until the worker is restarted")
		},
		progress: func(token string, p *mcp.ProgressNotificationParams) {
			if show, ok := c.progress.Load(token); ok {
				show.(func(*mcp.ProgressNotificationParams))(p)
			}
		},
	})
}

func (c *Connection) set(s *session, fault error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live, c.fault = s, fault
	close(c.news)
	c.news = make(chan struct{})
}

// connected waits for a session.
func (c *Connection) connected(ctx context.Context) (*session, error) {
	ctx, stop := context.WithTimeout(ctx, connectWait)
	defer stop()
	for {
		c.mu.Lock()
		s, news, fault := c.live, c.news, c.fault
		c.mu.Unlock()
		if s != nil && s.usable() {
			return s, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			if fault == nil {
				fault = errors.New("it is being connected again")
			}
			return nil, fmt.Errorf("%s is not connected: %w", c.server.server(), fault)
		case <-c.ctx.Done():
			return nil, fmt.Errorf("%s is not connected: this worker stops", c.server.server())
		}
	}
}

// sender sends calls of the tool that has this pin.
func (c *Connection) sender(pin string) invoke {
	return func(ctx context.Context, call *tooldefs.Call, params *mcp.CallToolParams) (*mcp.CallToolResult, error) {
		s, err := c.pinned(ctx, params.Name, pin)
		if err != nil {
			return nil, c.masked(err)
		}
		c.calls.Add(1)
		defer func() {
			if c.calls.Add(-1) == 0 && c.doubted.Load() {
				c.wake()
			}
		}()
		token := "t" + strconv.FormatInt(c.tokens.Add(1), 10)
		c.progress.Store(token, func(p *mcp.ProgressNotificationParams) { call.Progress(shownProgress(p)) })
		defer c.progress.Delete(token)
		params.SetProgressToken(token)
		result, err := s.call(ctx, params)
		if err != nil {
			if ctx.Err() != nil {
				c.question()
			}
			return nil, c.masked(callError(err))
		}
		return result, nil
	}
}

// pinned is a session whose server still defines the tool as it did. Until here
// nothing was sent that could have an effect, so it is tried on a second
// session when the first one turns out to be dead.
func (c *Connection) pinned(ctx context.Context, name, pin string) (*session, error) {
	var last error
	for range 2 {
		s, err := c.connected(ctx)
		if err != nil {
			return nil, tooldefs.NotExecuted(err)
		}
		present, err := s.list(ctx)
		if err == nil {
			return s, c.sameTool(present, name, pin)
		}
		if ctx.Err() != nil {
			c.question()
			return nil, tooldefs.NotExecuted(fmt.Errorf("%s did not answer in time when its definition was checked: %w", c.server.server(), err))
		}
		var status *StatusError
		if errors.As(err, &status) && status.aboutUs() {
			return nil, tooldefs.NotExecuted(fmt.Errorf("%s did not let its definition be checked: %w", c.server.server(), status))
		}
		last = err
		s.drop()
	}
	return nil, tooldefs.NotExecuted(fmt.Errorf("%s cannot be reached: %w", c.server.server(), last))
}

func (c *Connection) sameTool(present []*mcp.Tool, name, pin string) error {
	for _, d := range present {
		if d.Name == name {
			if c.server.pin(d) != pin {
				return &DriftError{Server: c.server.server(), Tool: name}
			}
			return nil
		}
	}
	return &DriftError{Server: c.server.server(), Tool: name, Gone: true}
}

// masked keeps what an error means and takes the secrets out of its words.
func (c *Connection) masked(err error) error {
	text := c.mask.Text(err.Error())
	if text == err.Error() {
		return err
	}
	switch plain := errors.New(text); {
	case tooldefs.IsUnknown(err):
		return tooldefs.Unknown(plain)
	case tooldefs.IsNotExecuted(err):
		return tooldefs.NotExecuted(plain)
	default:
		return plain
	}
}

// shownProgress is what a watcher of the turn sees of a server's progress.
func shownProgress(p *mcp.ProgressNotificationParams) any {
	return struct {
		Progress float64 `json:"progress"`
		Total    float64 `json:"total,omitempty"`
		Message  string  `json:"message,omitempty"`
	}{p.Progress, p.Total, p.Message}
}
