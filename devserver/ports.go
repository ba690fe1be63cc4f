package main

import (
	"fmt"
	"net"
	"runtime"
	"strconv"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/primitives"
)

// services are the parts of a Temporal server, all of them in this process.
var services = []primitives.ServiceName{
	primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService,
}

// uiPortOffset is how far the Web UI's port is from the frontend's, as with `temporal server start-dev`.
const uiPortOffset = 1000

// ports is every port that the process listens on.
type ports struct {
	Frontend, HTTP, UI        int
	History, Matching, Worker int
	moved                     bool // not the configuration's
}

// choosePorts follows the flags: nothing given means the configuration's ports; another frontend port moves
// everything else out of the way, so that a second server runs beside the first; 0 leaves it all to the kernel.
func choosePorts(cfg map[string]config.Service, opts options) (ports, error) {
	configured := func(name primitives.ServiceName) config.RPC { return cfg[string(name)].RPC }
	p := ports{
		Frontend: configured(primitives.FrontendService).GRPCPort,
		HTTP:     configured(primitives.FrontendService).HTTPPort,
		History:  configured(primitives.HistoryService).GRPCPort,
		Matching: configured(primitives.MatchingService).GRPCPort,
		Worker:   configured(primitives.WorkerService).GRPCPort,
	}
	if opts.Port != fromConfig && opts.Port != p.Frontend {
		p = ports{Frontend: opts.Port, moved: true}
	}
	switch {
	case opts.UIPort != fromConfig:
		p.UI = opts.UIPort
	case p.Frontend != 0 && p.Frontend+uiPortOffset <= 65535:
		p.UI = p.Frontend + uiPortOffset
	}
	for _, port := range []*int{&p.Frontend, &p.HTTP, &p.UI, &p.History, &p.Matching, &p.Worker} {
		if *port != 0 {
			continue
		}
		var err error
		if *port, err = freePort(); err != nil {
			return ports{}, err
		}
	}
	return p, nil
}

func (p ports) grpc(name primitives.ServiceName) int {
	switch name {
	case primitives.HistoryService:
		return p.History
	case primitives.MatchingService:
		return p.Matching
	case primitives.WorkerService:
		return p.Worker
	default:
		return p.Frontend
	}
}

// check finds a taken port before the server does: the server would end the process with a stack of log lines.
func (p ports) check(ip string) error {
	for _, use := range []struct {
		port     int
		ip, what string
		remedy   string
	}{
		{p.Frontend, ip, "frontend gRPC", "--port N or --port 0 (any free port)"},
		{p.HTTP, ip, "HTTP API", "--port 0 (free ports for everything)"},
		{p.UI, ip, "Web UI", "--ui-port N or --ui-port 0 (any free port)"},
		{p.History, "127.0.0.1", "history service", "--port 0 (free ports for everything)"},
		{p.Matching, "127.0.0.1", "matching service", "--port 0 (free ports for everything)"},
		{p.Worker, "127.0.0.1", "worker service", "--port 0 (free ports for everything)"},
	} {
		l, err := net.Listen("tcp", net.JoinHostPort(use.ip, strconv.Itoa(use.port)))
		if err != nil {
			return fmt.Errorf("cannot listen on port %d (%s): %w; is a Temporal server running already? Stop it or use %s",
				use.port, use.what, err, use.remedy)
		}
		_ = l.Close()
	}
	return nil
}

// freePort asks the kernel for a port and leaves a closed connection on it in TIME_WAIT. For a minute nobody else
// who asks is given that port, while listening on it by number works: several servers that start at once, as in
// tests, do not get in each other's way. (Temporal's command line does the same.)
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("no free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	if runtime.GOOS == "linux" { // others hand out ports in sequence
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return 0, fmt.Errorf("no free port: %w", err)
		}
		defer func() { _ = client.Close() }() // after the server's side: that one keeps TIME_WAIT
		conn, err := l.Accept()
		if err != nil {
			return 0, fmt.Errorf("no free port: %w", err)
		}
		_ = conn.Close()
	}
	return l.Addr().(*net.TCPAddr).Port, nil
}
