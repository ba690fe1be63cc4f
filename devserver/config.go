package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"go.temporal.io/server/common/config"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
)

// devConfig is Temporal's static configuration with the command line laid over it.
type devConfig struct {
	*config.Config
	sql   *config.SQL // the default store
	db    string      // absolute path of its SQLite file
	host  string      // the address under which clients on this machine reach the server
	ports ports
}

func loadConfig(opts options) (*devConfig, error) {
	if _, err := os.Stat(opts.Config); err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w (name it with --config FILE)", err)
	}
	static, err := config.Load(config.WithConfigFile(opts.Config))
	if err != nil {
		return nil, fmt.Errorf("configuration %s: %s", opts.Config, oneLine(err))
	}
	cfg := &devConfig{Config: static, host: opts.IP}
	if ip := net.ParseIP(opts.IP); ip.IsUnspecified() {
		cfg.host = "127.0.0.1"
	}
	for _, step := range []func(options) error{cfg.useDatabase, cfg.usePorts, cfg.useCluster} {
		if err := step(opts); err != nil {
			return nil, fmt.Errorf("configuration %s: %w", opts.Config, err)
		}
	}
	return cfg, nil
}

// useDatabase sends both stores to one SQLite file: it is what can be locked, announced and carried along.
func (c *devConfig) useDatabase(opts options) error {
	names := map[string]string{"defaultStore": c.Persistence.DefaultStore, "visibilityStore": c.Persistence.VisibilityStore}
	for field, name := range names {
		store, ok := c.Persistence.DataStores[name]
		if !ok || store.SQL == nil || store.SQL.PluginName != sqliteplugin.PluginName {
			return fmt.Errorf("persistence.%s %q is not an SQL store with pluginName %s", field, name, sqliteplugin.PluginName)
		}
		if store.SQL.ConnectAttributes["mode"] == "memory" {
			return fmt.Errorf("store %q is in memory; the development server keeps its data in a file", name)
		}
	}
	c.sql = c.Persistence.DataStores[c.Persistence.DefaultStore].SQL
	file := opts.DB
	if file == "" {
		file = c.sql.DatabaseName
	}
	if file == "" {
		return fmt.Errorf("store %q has no databaseName", c.Persistence.DefaultStore)
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // one file, one lock
	}
	if strings.ContainsAny(path, "?#%") { // the driver takes the name as part of a URI
		return fmt.Errorf("database file %q: SQLite cannot have ?, # or %% in its name", path)
	}
	c.db = path
	for _, name := range names {
		c.Persistence.DataStores[name].SQL.DatabaseName = path
	}
	return nil
}

func (c *devConfig) usePorts(opts options) error {
	for _, name := range services {
		if _, ok := c.Services[string(name)]; !ok {
			return fmt.Errorf("service %q is missing", name)
		}
	}
	var err error
	if c.ports, err = choosePorts(c.Services, opts); err != nil {
		return err
	}
	for _, name := range services {
		service := c.Services[string(name)]
		service.RPC.GRPCPort = c.ports.grpc(name)
		service.RPC.BindOnLocalHost, service.RPC.BindOnIP = true, ""
		if name == primitives.FrontendService {
			service.RPC.HTTPPort = c.ports.HTTP
			service.RPC.BindOnLocalHost, service.RPC.BindOnIP = false, opts.IP
		}
		c.Services[string(name)] = service
	}
	if c.ports.moved {
		// A second server beside the first: the configuration's ports for these belong to the first.
		c.Global.PProf.Port = 0
		c.Global.Metrics = nil
	}
	return nil
}

// useCluster tells the cluster its own address, for the SDK client of the worker service and for other clusters.
func (c *devConfig) useCluster(options) error {
	if c.ClusterMetadata == nil {
		return errors.New("clusterMetadata is missing")
	}
	current := c.ClusterMetadata.CurrentClusterName
	info, ok := c.ClusterMetadata.ClusterInformation[current]
	if !ok {
		return fmt.Errorf("clusterMetadata.clusterInformation lacks the current cluster %q", current)
	}
	info.RPCAddress = c.address()
	info.HTTPAddress = c.httpAddress()
	c.ClusterMetadata.ClusterInformation[current] = info
	c.PublicClient.HostPort = c.address()
	return nil
}

func (c *devConfig) address() string     { return c.at(c.ports.Frontend) }
func (c *devConfig) httpAddress() string { return c.at(c.ports.HTTP) }
func (c *devConfig) uiAddress() string   { return c.at(c.ports.UI) }
func (c *devConfig) at(port int) string  { return net.JoinHostPort(c.host, strconv.Itoa(port)) }

// oneLine keeps an error of the YAML decoder, which has a line per field, in one line.
func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
