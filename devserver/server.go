package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	ui "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

// stopLimit bounds a clean stop. Everything acknowledged is in the database already, so what the services still
// do then (draining polls, flushing queues' read levels) can be cut short.
const stopLimit = 2 * time.Second

// server is the four services and the Web UI.
type server struct {
	cfg     *devConfig
	dynamic dynamicconfig.Client
	log     *serverLog
	opts    options

	temporal temporal.Server
	ui       *ui.Server
	stopOnce sync.Once
}

func newServer(cfg *devConfig, dynamic dynamicconfig.Client, log *serverLog, opts options) *server {
	return &server{cfg: cfg, dynamic: dynamic, log: log, opts: opts}
}

// start returns when the services have started, or when ctx ends: the server's own start cannot be broken off.
func (s *server) start(ctx context.Context) error {
	built, err := temporal.NewServer(
		temporal.WithConfig(s.cfg.Config),
		temporal.ForServices(temporal.DefaultServices),
		// Known hosts instead of a ring: no membership ports, nothing to join, and no dead members to wait for
		// after a kill.
		temporal.WithStaticHosts(s.hosts()),
		temporal.WithLogger(s.log),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
		temporal.WithDynamicConfigClient(s.dynamic),
	)
	if err != nil {
		return fmt.Errorf("the Temporal server cannot start: %s", oneLine(err))
	}
	started := make(chan error, 1)
	go func() { started <- built.Start() }()
	select {
	case err := <-started:
		if err != nil {
			return fmt.Errorf("the Temporal server cannot start: %s", oneLine(err))
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	s.temporal = built
	s.startUI()
	return nil
}

func (s *server) hosts() map[primitives.ServiceName]static.Hosts {
	hosts := make(map[primitives.ServiceName]static.Hosts)
	for _, name := range services {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(s.cfg.ports.grpc(name)))
		if name == primitives.FrontendService {
			address = s.cfg.address()
		}
		hosts[name] = static.SingleLocalHost(address)
	}
	return hosts
}

func (s *server) startUI() {
	host := s.opts.IP
	if net.ParseIP(host).To4() == nil {
		host = "[" + host + "]"
	}
	s.ui = ui.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
		TemporalGRPCAddress: s.cfg.address(),
		Host:                host,
		Port:                s.cfg.ports.UI,
		EnableUI:            true,
		DefaultNamespace:    namespace,
		Codec:               uiconfig.Codec{Endpoint: s.opts.UICodecEndpoint},
		CORS:                uiconfig.CORS{CookieInsecure: true}, // plain http: a secure cookie would not come back
		DisableNewsFetch:    true,
		HideLogs:            true,
		Distribution:        "server",
	}))
	go func() { _ = s.ui.Start() }()
}

// stop may be called without start, and more than once.
func (s *server) stop() {
	s.stopOnce.Do(func() {
		s.log.hush()
		if s.ui != nil {
			s.ui.Stop()
		}
		if s.temporal != nil {
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				_ = s.temporal.Stop()
			}()
			select {
			case <-stopped:
			case <-time.After(stopLimit):
			}
		}
		checkpoint(s.cfg.db, time.Second)
	})
}
