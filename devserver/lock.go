package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// databaseLock keeps a second devserver off the database. Two servers on one file corrupt each other's view of
// the shard without SQLite noticing. The kernel drops the lock when the process ends, however it ends.
type databaseLock struct{ file *os.File }

// lockDatabase also creates the database's folder, since the lock file is the first thing in it.
func lockDatabase(db string) (*databaseLock, error) {
	if err := os.MkdirAll(filepath.Dir(db), 0o755); err != nil {
		return nil, fmt.Errorf("cannot create the folder of the database: %w", err)
	}
	file, err := os.OpenFile(db+".lock", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot lock the database: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		defer func() { _ = file.Close() }()
		return nil, fmt.Errorf("database %s is in use by %s; stop that one or name another file with --db", db, holder(file))
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("cannot lock the database: %s.lock: %w", db, err)
	}
	l := &databaseLock{file: file}
	l.note(fmt.Appendf(nil, `{"pid":%d}`, os.Getpid()))
	return l, nil
}

// note leaves in the lock file who holds it: first the process id, then the whole announcement. It is for people
// and for the message of a second server; the lock works without it.
func (l *databaseLock) note(line []byte) {
	if l.file.Truncate(0) == nil {
		_, _ = l.file.WriteAt(append(line, '\n'), 0)
	}
}

// release leaves the (empty) file: removing it would let a third process lock a name that a second one is about
// to open.
func (l *databaseLock) release() {
	_ = l.file.Truncate(0)
	_ = l.file.Close()
}

func holder(file *os.File) string {
	var who announcement
	if json.NewDecoder(file).Decode(&who) != nil || who.PID == 0 {
		return "another devserver"
	}
	if who.Address == "" {
		return fmt.Sprintf("the devserver with pid %d", who.PID)
	}
	return fmt.Sprintf("the devserver with pid %d (%s)", who.PID, who.Address)
}
