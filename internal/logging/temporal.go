package logging

import (
	"fmt"

	"go.temporal.io/sdk/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Temporal lets the Temporal SDK log through l. It supports [log.With] and
// [log.Skip], and is safe for concurrent use.
func Temporal(l *zap.Logger) log.Logger {
	return temporalLogger{l.WithOptions(zap.AddCallerSkip(2))} // Debug and log
}

type temporalLogger struct{ zap *zap.Logger }

var (
	_ log.WithLogger      = temporalLogger{}
	_ log.WithSkipCallers = temporalLogger{}
)

func (t temporalLogger) Debug(msg string, keyvals ...any) { t.log(zapcore.DebugLevel, msg, keyvals) }
func (t temporalLogger) Info(msg string, keyvals ...any)  { t.log(zapcore.InfoLevel, msg, keyvals) }
func (t temporalLogger) Warn(msg string, keyvals ...any)  { t.log(zapcore.WarnLevel, msg, keyvals) }
func (t temporalLogger) Error(msg string, keyvals ...any) { t.log(zapcore.ErrorLevel, msg, keyvals) }

func (t temporalLogger) log(level zapcore.Level, msg string, keyvals []any) {
	if entry := t.zap.Check(level, msg); entry != nil {
		entry.Write(pairs(keyvals)...)
	}
}

// With gives a logger that adds the pairs to every entry.
func (t temporalLogger) With(keyvals ...any) log.Logger {
	return temporalLogger{t.zap.With(pairs(keyvals)...)}
}

// WithCallerSkip gives a logger that names a caller further up.
func (t temporalLogger) WithCallerSkip(depth int) log.Logger {
	return temporalLogger{t.zap.WithOptions(zap.AddCallerSkip(depth))}
}

// pairs makes fields of alternating keys and values; a value without its
// partner is kept rather than lost.
func pairs(keyvals []any) []zap.Field {
	fields := make([]zap.Field, 0, (len(keyvals)+1)/2)
	for i := 0; i < len(keyvals); i += 2 {
		if i+1 == len(keyvals) {
			return append(fields, zap.Any("unpaired", keyvals[i]))
		}
		key, ok := keyvals[i].(string)
		if !ok {
			key = fmt.Sprint(keyvals[i])
		}
		fields = append(fields, zap.Any(key, keyvals[i+1]))
	}
	return fields
}
