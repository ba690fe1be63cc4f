package main

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"go.temporal.io/server/common/dynamicconfig"
)

//go:embed dynamicconfig.yaml
var tuned []byte

// dynamicConfig is, each winning over the one before: ours, the file that the static configuration names, and the
// command line. A key that the server does not know is an error, since the server would silently ignore it.
func dynamicConfig(opts options, cfg *devConfig) (dynamicconfig.Client, error) {
	values := make(dynamicconfig.StaticClient)
	lay := func(from string, l *dynamicconfig.YamlLoader) error {
		if err := errors.Join(append(l.Errors, l.Warnings...)...); err != nil {
			return fmt.Errorf("dynamic configuration, %s: %s", from, oneLine(err))
		}
		for key, value := range maps.All(l.Map) {
			values[key] = value
		}
		return nil
	}
	if !opts.Stock {
		if err := lay("built in", dynamicconfig.LoadYamlFile(tuned)); err != nil {
			return nil, err
		}
	}
	if file := cfg.DynamicConfigClient; file != nil && file.Filepath != "" {
		content, err := os.ReadFile(file.Filepath)
		if err != nil {
			return nil, fmt.Errorf("dynamic configuration: %w", err)
		}
		if err := lay(file.Filepath, dynamicconfig.LoadYamlFile(content)); err != nil {
			return nil, err
		}
	}
	for _, flag := range opts.DynamicConfig {
		key, value, found := strings.Cut(flag, "=")
		if !found {
			return nil, fmt.Errorf("--dynamic-config %q is not key=value", flag)
		}
		var l dynamicconfig.YamlLoader
		l.LoadValue(dynamicconfig.MakeKey(key), []byte("- value: "+value))
		if err := lay("--dynamic-config "+flag, &l); err != nil {
			return nil, err
		}
	}
	return values, nil
}
