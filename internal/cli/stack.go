package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/internal/conn"
	"github.com/turnkeel/turnkeel/internal/devproc"
)

// The environment that says where models and servers are.
const (
	envTemporalAddress = "TEMPORAL_ADDRESS"
	envAPIKey          = "OPENAI_API_KEY"
	envBaseURL         = "OPENAI_BASE_URL"
)

// stateDir is where the demo and the dev server keep their data, in the
// working directory.
const stateDir = ".turnkeel"

// stack is a whole Turnkeel on one machine: server, model and worker. What it
// started is stopped by close, in the reverse order.
type stack struct {
	*session
	server *devproc.Server // nil when the environment names one
	worker *workerProcess
	config workerConfig
	log    *tail
	stops  []func()
}

type stackFlags struct {
	port, uiPort  int
	agents, queue string
	ledger        string
	script        agenttest.Script // of the model, where no real one is named
	cast          *cast            // instead of script: what plays the models of all agents
	plays         string           // the agent's model, where no variable of ours changes that
	servers       []string         // what the worker starts, to say so
	workerLog     io.Writer        // besides the tail
	workerDies    bool             // in the middle of its first refund; another takes its place
}

// up brings the stack up; on an error nothing of it is left.
func (a *app) up(ctx context.Context, f stackFlags) (_ *stack, err error) {
	s := &stack{log: &tail{}}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if _, err := os.Stat(f.agents); err != nil {
		return nil, noAgents(f.agents)
	}
	if err := os.MkdirAll(filepath.Dir(f.ledger), 0o755); err != nil { //nolint:gosec // the user's own data
		return nil, fmt.Errorf("make a place for the ledger: %w", err)
	}
	env := os.Environ()
	if os.Getenv(envTemporalAddress) != "" {
		a.say("Temporal server: %s (from %s)", os.Getenv(envTemporalAddress), envTemporalAddress)
		s.session, err = a.connect(ctx, "", f.queue)
	} else {
		env, err = a.startServer(ctx, s, f)
	}
	if err != nil {
		return nil, err
	}
	s.stops = append(s.stops, s.temporal.Close)
	modelEnv, err := a.startModel(s, f)
	if err != nil {
		return nil, err
	}
	if len(f.servers) > 0 {
		a.say("MCP servers: %s; the first start of one may take a minute, where it is downloaded", strings.Join(f.servers, ", "))
	}
	var log io.Writer = s.log
	if f.workerLog != nil {
		log = io.MultiWriter(s.log, f.workerLog)
	}
	s.config = workerConfig{
		queue: f.queue, agents: f.agents, ledger: f.ledger, env: append(env, modelEnv...), log: log, dies: f.workerDies,
	}
	if err := s.serve(); err != nil {
		return nil, err
	}
	return s, s.awaitWorker(ctx, f.queue)
}

// serve starts the worker.
func (s *stack) serve() (err error) {
	if s.worker, err = startWorker(s.config); err == nil {
		s.stops = append(s.stops, s.worker.stop)
	}
	return err
}

func noAgents(dir string) error {
	return fmt.Errorf("there is no folder %q here: run this from the root of the repository, or name one with --agents", dir)
}

func (s *stack) close() {
	for i := len(s.stops) - 1; i >= 0; i-- {
		s.stops[i]()
	}
	s.stops = nil
}

// startServer builds the development server if need be, runs it, and connects.
func (a *app) startServer(ctx context.Context, s *stack, f stackFlags) ([]string, error) {
	bin, err := devproc.Ensure(ctx, devproc.Printer(a.errOut))
	if err != nil {
		return nil, err
	}
	server, err := devproc.Start(ctx, bin, devproc.Options{
		Dir: filepath.Join(stateDir, "server"), Port: f.port, UIPort: f.uiPort, Stderr: io.Discard,
	})
	if err != nil {
		return nil, startError(err)
	}
	s.server = server
	s.stops = append(s.stops, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = server.Stop(ctx)
	})
	a.say("Temporal server: %s · Web UI: %s", server.Address, server.UI)
	info := conn.Info{Address: server.Address, Namespace: server.Namespace}
	client, err := conn.DialOptions(ctx, sdkclient.Options{HostPort: server.Address, Namespace: server.Namespace}, info)
	if err != nil {
		return nil, err
	}
	s.session = &session{
		temporal: client, info: info, webUI: server.UI,
		turns: turnkeel.NewClient(client, turnkeel.ClientOptions{Namespace: server.Namespace, TaskQueue: f.queue}),
	}
	return localEnv(server.Address, server.Namespace), nil
}

// startModel plays the script unless the environment names a model.
func (a *app) startModel(s *stack, f stackFlags) ([]string, error) {
	if f.plays != "" {
		a.say("Model: %s, as the agent.yaml says; to run this on another, name it there", f.plays)
		return nil, nil
	}
	if os.Getenv(envAPIKey) != "" || os.Getenv(envBaseURL) != "" {
		a.say("Model: the real one, %s", realModel())
		return nil, nil
	}
	if f.cast != nil {
		url, stop, err := f.cast.listen()
		if err != nil {
			return nil, fmt.Errorf("start the scripted model: %w", err)
		}
		s.stops = append(s.stops, stop)
		a.say("%s", f.cast.tell())
		return []string{envBaseURL + "=" + url}, nil
	}
	model, err := agenttest.NewModelServer(f.script)
	if err != nil {
		return nil, fmt.Errorf("start the scripted model: %w", err)
	}
	s.stops = append(s.stops, model.Close)
	a.say("Model: a script plays it, since neither %s nor %s is set; set one to run this on a real model", envAPIKey, envBaseURL)
	return []string{envBaseURL + "=" + model.URL()}, nil
}

// realModel says where an agent's model is reached by the environment, without
// what may be secret.
func realModel() string {
	at, key := "at OpenAI's own address", "with the key in "+envAPIKey
	if base := os.Getenv(envBaseURL); base != "" {
		at = "at the address in " + envBaseURL
		if u, err := url.Parse(base); err == nil && u.Host != "" {
			at += ", " + (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
		}
	}
	if os.Getenv(envAPIKey) == "" {
		key = "without a key, since " + envAPIKey + " is not set"
	}
	return at + ", " + key
}

// watch gives a ctx that ends, with the reason as its cause, when the worker
// ends by itself. One that is to die is replaced, once; died is called then.
func (s *stack) watch(ctx context.Context, died func()) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	var serverGone <-chan struct{}
	if s.server != nil {
		serverGone = s.server.Done()
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-s.worker.done:
				if err := s.replace(died); err != nil {
					cancel(err)
					return
				}
			case <-serverGone:
				cancel(fmt.Errorf("the Temporal server ended: %w", s.server.Err()))
				return
			case <-ctx.Done():
				return
			}
		}
	})
	return ctx, func() {
		cancel(context.Canceled)
		watching.Wait()
	}
}

// replace starts another worker after one that was to die, and is an error
// after any other.
func (s *stack) replace(died func()) error {
	if !s.config.dies || !s.worker.killed() {
		return s.log.lastLines()
	}
	s.config.dies = false
	died()
	return s.serve()
}

// reasonOf is why a watched ctx ended: the worker's last words, or the signal.
func reasonOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

var heldBy = regexp.MustCompile(`is in use by the devserver with pid (\d+) \(([^()]+)\)`)

// startError says what to do when the server cannot be started.
func startError(err error) error {
	if m := heldBy.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("another demo or dev of this folder (%s) has its server up at %s (pid %s); stop it, or use its server: %s=%s starter …",
			stateDir, m[2], m[1], envTemporalAddress, m[2])
	}
	hint := "If another demo or dev runs in this folder, wait for it or use its server: "
	if strings.Contains(err.Error(), "port") {
		hint = "For free ports: --port 0. To use a server that runs already: "
	}
	return fmt.Errorf("%w\n%s%s=127.0.0.1:7233 starter …", err, hint, envTemporalAddress)
}

// awaitWorker waits until the worker takes tasks, or is gone.
func (s *stack) awaitWorker(ctx context.Context, queue string) error {
	for {
		described, err := s.temporal.DescribeTaskQueue(ctx, queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
		if err == nil && len(described.GetPollers()) > 0 {
			return nil
		}
		select {
		case <-s.worker.done:
			return s.log.lastLines()
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
