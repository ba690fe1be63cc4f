package main

import (
	"io"

	"go.temporal.io/server/common/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// serverLog is the Temporal server's own log, for people, on standard error.
type serverLog struct {
	log.Logger
	level zap.AtomicLevel
}

func newServerLog(level zapcore.Level, w io.Writer) *serverLog {
	atomic := zap.NewAtomicLevelAt(level)
	encoder := zapcore.NewConsoleEncoder(zapcore.EncoderConfig{
		TimeKey:     "ts",
		LevelKey:    "level",
		MessageKey:  "msg",
		EncodeTime:  zapcore.TimeEncoderOfLayout("15:04:05.000"),
		EncodeLevel: zapcore.CapitalLevelEncoder,
	})
	core := zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), atomic)
	return &serverLog{Logger: log.NewZapLogger(zap.New(core)), level: atomic}
}

// hush keeps quiet while the services go down under each other, which each of them reports as an error.
func (l *serverLog) hush() {
	if l.level.Level() > zapcore.InfoLevel {
		l.level.SetLevel(zapcore.FatalLevel)
	}
}
