// Package agentfile reads agents/<name>/agent.yaml and the instructions beside
// it into [contract.Agent]. It is worker-side and pure but for reading files;
// start at [Load].
//
// It is strict: an unknown key, a wrong type or a bad value is refused, and
// all problems of all agents are listed at once, each with its place.
package agentfile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/scripted"
)

// The names of the files of an agent, and how large they may be.
const (
	FileName         = "agent.yaml"
	InstructionsName = "instructions.md" // read when the key instructions is absent

	MaxFileBytes         = 256 << 10
	MaxInstructionsBytes = 256 << 10 // recorded in every turn's history
)

// Definition is one agent as its file declares it.
type Definition struct {
	// Agent is what a turn records. Its Tools are those of the file, or none
	// yet where the file says `all`: see [Definition.Resolve].
	Agent contract.Agent

	// File is the agent.yaml, as a path that can be opened from where Load was
	// called.
	File string

	// ToolNames are the tools as the file names them, [AllTools] included.
	ToolNames []string

	// Builtins are the built-in tools it asks for, MCP the servers whose tools
	// it is shown.
	Builtins []string
	MCP      []MCPServer

	// Env are the environment variables the agent declares, those that its MCP
	// servers need included, and after [Definition.Grant] those of its built-in
	// tools.
	Env Env

	// Script plays the model of an agent whose model is scripted/<file>, which is
	// ScriptFile as File is; nil for any other.
	Script     *scripted.Script
	ScriptFile string

	modelAt    place
	addressed  bool    // endpoint.base_url is given
	toolsAt    []place // beside ToolNames
	builtinsAt []place // beside Builtins
	ruled      []ruled // the tools that the policy names
	envAt      []place // beside Env.Required
	bindAt     map[string]place
}

// Load reads every agent of a folder that holds one folder per agent, sorted
// by folder. Folders whose name begins with "." or "_" and plain files are
// passed over. The error is an [Errors] with every problem found, and then
// there are no definitions.
func Load(dir string) ([]Definition, error) {
	return LoadFS(os.DirFS(dir), dir)
}

// LoadFS is [Load] for any file system; dir is only how messages and
// [Definition.File] call its root.
func LoadFS(fsys fs.FS, dir string) ([]Definition, error) {
	defs, problems := readFS(fsys, dir)
	if len(problems) > 0 {
		return nil, problems
	}
	return defs, nil
}

// Read is [Load] for a caller that goes on checking: with the problems come the
// definitions as far as they can be read.
func Read(dir string) ([]Definition, error) {
	defs, problems := readFS(os.DirFS(dir), dir)
	return defs, problems.orNil()
}

func readFS(fsys fs.FS, dir string) ([]Definition, Errors) {
	l := &loader{fsys: fsys, dir: dir}
	if others, _ := fs.Glob(fsys, path.Join("*", FileName)); len(others) == 0 && isFile(fsys, FileName) {
		l.problemf(path.Join(dir, FileName), "is read in a folder of folders only: if %s is the agent's own folder, name %s instead; if it is for all agents, move the file to %s",
			dir, parent(dir), path.Join(dir, "<name>", FileName))
		return nil, l.problems
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		l.problemf(dir, "cannot read the agents folder (%s); start in a folder that has one, or name another (--agents, in code Options.AgentsDir)", reason(err))
		return nil, l.problems
	}
	defs := l.agents(entries)
	if len(defs) == 0 && len(l.problems) == 0 {
		l.problemf(dir, "no agent in this folder; create %s", path.Join(dir, "<name>", FileName))
	}
	return defs, l.problems
}

type loader struct {
	fsys     fs.FS
	dir      string
	problems Errors
}

func (l *loader) problemf(file, format string, args ...any) {
	l.problems = append(l.problems, problem(file, place{}, format, args...))
}

func (l *loader) agents(entries []fs.DirEntry) []Definition {
	var defs []Definition
	for _, entry := range entries {
		folder := entry.Name()
		if strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_") {
			continue
		}
		info, err := fs.Stat(l.fsys, folder) // follows a link, which the entry does not
		if err != nil {
			l.problemf(path.Join(l.dir, folder), "cannot be read (%s)", reason(err))
			continue
		}
		if !info.IsDir() {
			l.strayFile(folder)
			continue
		}
		if def, ok := l.agent(folder); ok {
			l.add(&defs, def)
		}
	}
	return defs
}

// strayFile points at an agent that lies flat, where nobody would read it.
func (l *loader) strayFile(name string) {
	stem, isYAML := strings.CutSuffix(name, ".yaml")
	if !isYAML {
		stem, isYAML = strings.CutSuffix(name, ".yml")
	}
	switch {
	case name == FileName:
		l.problemf(path.Join(l.dir, name), "is not read here: the agents folder has one folder for each agent; move it to %s", path.Join(l.dir, "<name>", FileName))
	case isYAML:
		l.problemf(path.Join(l.dir, name), "is not read here; move it to %s", path.Join(l.dir, stem, FileName))
	}
}

// add reports a name that is taken, and keeps that definition all the same: the
// rest of it is to be checked too.
func (l *loader) add(defs *[]Definition, def Definition) {
	same := slices.IndexFunc(*defs, func(d Definition) bool { return d.Agent.Name == def.Agent.Name })
	if same >= 0 {
		l.problemf(def.File, "the name %q is taken by %s; give one of them another name", def.Agent.Name, (*defs)[same].File)
	}
	*defs = append(*defs, def)
}

// agent reads one folder; ok is false when nothing of it can be used. A
// definition with problems is returned too, so that its name counts.
func (l *loader) agent(folder string) (def Definition, ok bool) {
	name := path.Join(folder, FileName)
	file := path.Join(l.dir, name)
	data, size, err := readFile(l.fsys, name, MaxFileBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.problemf(path.Join(l.dir, folder), "%s", l.missing(folder))
		return Definition{}, false
	case err != nil:
		l.problemf(file, "cannot be read (%s)", reason(err))
		return Definition{}, false
	case size > MaxFileBytes:
		l.problemf(file, "is %d bytes long, at most %d are allowed; put long text into %s", size, MaxFileBytes, InstructionsName)
		return Definition{}, false
	}
	r := &reader{file: file}
	def, ok = r.definition(data, folder, l.fsys)
	if other := otherSpelling(l.fsys, folder, FileName, "agent.yml"); other != "" {
		r.report(place{}, "the folder has %s too, which nothing reads; remove one of them", other)
	}
	l.problems = append(l.problems, r.problems...)
	return def, ok
}

func (l *loader) missing(folder string) string {
	if hasEntry(l.fsys, folder, FileName) {
		return "has " + FileName + " as a link to nothing; let it lead to a file"
	}
	if near := nearFile(l.fsys, folder, FileName, 2); near != "" {
		return "has " + near + "; rename it to " + FileName
	}
	if agents, _ := fs.Glob(l.fsys, path.Join(folder, "*", FileName)); len(agents) > 0 {
		return "is no agent but a folder of agents; name it instead of " + l.dir
	}
	return "has no " + FileName + "; add one, or begin the folder's name with _ to have it passed over"
}

// parent is the folder above dir, which may be relative.
func parent(dir string) string {
	dir = path.Clean(filepath.ToSlash(dir))
	if base := path.Base(dir); base == "." || base == ".." {
		return path.Join(dir, "..")
	}
	return path.Dir(dir)
}

func isFile(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

// reason is the cause of a file system's error without the path, which the
// message has already.
func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}
