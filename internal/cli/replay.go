package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel/internal/conn"
	"github.com/turnkeel/turnkeel/internal/replay"
)

func (a *app) replayCommand() *cobra.Command {
	return replay.Command("starter", func(ctx context.Context, server bool) (replay.Session, error) {
		codec, err := conn.Codec(conn.Overrides{})
		if err != nil {
			return replay.Session{}, err
		}
		checker, err := replay.New(replay.Options{DataConverter: codec})
		if err != nil || !server {
			return replay.Session{Checker: checker}, err
		}
		s, err := a.connect(ctx, "", "")
		if err != nil {
			return replay.Session{}, err
		}
		return replay.Session{Checker: checker, Service: s.temporal, Namespace: s.info.Namespace, Close: s.temporal.Close}, nil
	}, a.json)
}
