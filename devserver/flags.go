package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.uber.org/zap/zapcore"
)

const (
	namespace        = "default"
	fromConfig       = -1 // a port flag that was not given
	defaultConfig    = "temporal-dev.yaml"
	defaultRetention = 30 * 24 * time.Hour
)

// ours are the search attributes that Turnkeel's workflows set.
var ours = map[string]enumspb.IndexedValueType{
	"TurnkeelAgent":   enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	"TurnkeelSession": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	"TurnkeelStatus":  enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	"TurnkeelPending": enumspb.INDEXED_VALUE_TYPE_INT,
}

// options is what the command line asked for.
type options struct {
	Config           string
	DB               string // "": as in the configuration
	IP               string
	Port             int // fromConfig, 0 for free ports everywhere, or a port
	UIPort           int // fromConfig, 0 for a free port, or a port
	UICodecEndpoint  string
	LogLevel         zapcore.Level
	Retention        time.Duration // 0: defaultRetention for a new namespace, an existing one keeps its own
	Stock            bool
	StdinLifeline    bool
	DynamicConfig    []string // key=value
	SearchAttributes map[string]enumspb.IndexedValueType
}

const usage = `Usage: devserver [flags]

A Temporal server and its Web UI in one process, on one SQLite file, for development and tests.
When clients can use it, it prints one line of JSON on standard output:

  {"address":"127.0.0.1:7233","ui":"http://127.0.0.1:8233","namespace":"default","db":"...","pid":123, ...}

SIGINT or SIGTERM stops it cleanly, a second one at once. Everything survives a restart, also after a kill.

  devserver                                the ports and the database of ./temporal-dev.yaml
  devserver --port 0 --db /tmp/t/test.db   a second server beside it, on free ports
  devserver --stock                        as a server behaves that nobody tuned

Flags:
`

func parseFlags(args []string, stderr io.Writer) (options, error) {
	var (
		opts    options
		fs      = flag.NewFlagSet("devserver", flag.ContinueOnError)
		attrs   []string
		noAttrs bool
		level   string
	)
	fs.SetOutput(io.Discard) // run prints the error, once
	fs.StringVar(&opts.Config, "config", defaultConfig, "`file` in Temporal's static server configuration format")
	fs.StringVar(&opts.DB, "db", "", "SQLite `file`, instead of the one that the configuration names; created on the first start")
	fs.StringVar(&opts.IP, "ip", "127.0.0.1", "`address` on which gRPC, HTTP API and Web UI listen; there is no authentication")
	fs.IntVar(&opts.Port, "port", fromConfig, "frontend gRPC `port`; any other than the configuration's moves the internal ports to free ones; 0 picks free ports for everything (default: the configuration's)")
	fs.IntVar(&opts.UIPort, "ui-port", fromConfig, "Web UI `port`; 0 picks a free one (default: frontend port + 1000)")
	fs.StringVar(&opts.UICodecEndpoint, "ui-codec-endpoint", "", "`URL` of the codec server that the Web UI asks to decode payloads")
	fs.StringVar(&level, "log-level", "error", "least `level` of the server's own log that goes to standard error: debug, info, warn, error or none")
	fs.DurationVar(&opts.Retention, "retention", 0, "how long closed workflows are kept (default: 720h for a new namespace, an existing one is not changed)")
	fs.BoolVar(&opts.Stock, "stock", false, "leave out our dynamic configuration, to measure what a stock server does")
	fs.BoolVar(&opts.StdinLifeline, "stdin-lifeline", false, "stop when standard input ends, so that the server does not outlive the process that holds the other end")
	fs.Func("dynamic-config", "a `key=value` of Temporal's dynamic configuration, value in YAML; may be repeated, wins over everything else", func(s string) error {
		opts.DynamicConfig = append(opts.DynamicConfig, s)
		return nil
	})
	fs.Func("search-attribute", "a `Name=Type` that the namespace shall have besides ours; may be repeated; types: "+strings.Join(attributeTypes(), ", "), func(s string) error {
		attrs = append(attrs, s)
		return nil
	})
	fs.BoolVar(&noAttrs, "no-search-attributes", false, "do not create ours, to act as a cluster that lacks them; a namespace that has them keeps them")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stderr, usage)
			fs.VisitAll(func(f *flag.Flag) { printFlag(stderr, f) })
		}
		return options{}, err
	}
	if fs.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q; try --help", fs.Arg(0))
	}
	var err error
	if opts.LogLevel, err = parseLevel(level); err != nil {
		return options{}, err
	}
	if opts.SearchAttributes, err = searchAttributes(attrs, noAttrs); err != nil {
		return options{}, err
	}
	return opts, opts.validate()
}

// printFlag is flag.PrintDefaults with two dashes, and without the default of a port, which the usage tells.
func printFlag(w io.Writer, f *flag.Flag) {
	value, text := flag.UnquoteUsage(f)
	fmt.Fprintf(w, "%s\n        %s", strings.TrimRight("  --"+f.Name+" "+value, " "), text)
	switch f.DefValue {
	case "", "false", "0s", strconv.Itoa(fromConfig):
	default:
		fmt.Fprintf(w, " (default %s)", f.DefValue)
	}
	fmt.Fprintln(w)
}

func (o options) validate() error {
	if net.ParseIP(o.IP) == nil {
		return fmt.Errorf("--ip %q is not an IP address", o.IP)
	}
	for name, port := range map[string]int{"--port": o.Port, "--ui-port": o.UIPort} {
		if port < fromConfig || port > 65535 {
			return fmt.Errorf("%s %d is not a port", name, port)
		}
	}
	if o.Retention < 0 {
		return fmt.Errorf("--retention %s is negative", o.Retention)
	}
	return nil
}

func parseLevel(s string) (zapcore.Level, error) {
	if s == "none" {
		return zapcore.FatalLevel, nil // a fatal error ends the process: it is always worth a line
	}
	level, err := zapcore.ParseLevel(s)
	if err != nil || level > zapcore.ErrorLevel {
		return 0, fmt.Errorf("--log-level %q is none of debug, info, warn, error, none", s)
	}
	return level, nil
}

func searchAttributes(given []string, none bool) (map[string]enumspb.IndexedValueType, error) {
	attrs := make(map[string]enumspb.IndexedValueType)
	if !none {
		for name, kind := range ours {
			attrs[name] = kind
		}
	}
	for _, s := range given {
		name, kind, found := strings.Cut(s, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("--search-attribute %q is not Name=Type", s)
		}
		t, err := enumspb.IndexedValueTypeFromString(kind)
		if err != nil || t == enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED {
			return nil, fmt.Errorf("--search-attribute %q: type %q is none of %s", s, kind, strings.Join(attributeTypes(), ", "))
		}
		attrs[name] = t
	}
	return attrs, nil
}

func attributeTypes() []string {
	var names []string
	for n, name := range enumspb.IndexedValueType_name {
		if n != int32(enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED) {
			names = append(names, enumspb.IndexedValueType(enumspb.IndexedValueType_value[name]).String())
		}
	}
	slices.Sort(names)
	return names
}
