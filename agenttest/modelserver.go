package agenttest

import (
	"testing"

	"github.com/turnkeel/turnkeel/internal/scripted"
)

// What a scripted model is made of, and what it is asked.
type (
	// Script is what a scripted model says. See the package doc for its YAML.
	Script = scripted.Script
	// ScriptTurn is a list of steps for some user messages.
	ScriptTurn = scripted.ScriptTurn
	// Step is one answer of a scripted model.
	Step = scripted.Step
	// ScriptCall is a tool call. At most one of Args and Raw is set; neither
	// means an empty object.
	ScriptCall = scripted.ScriptCall
	// StepUsage counts tokens.
	StepUsage = scripted.StepUsage
	// StepFailure is a request that goes wrong. What is not said is as in the
	// step's own answer.
	StepFailure = scripted.StepFailure

	// ModelRequest is a chat request as it came in.
	ModelRequest = scripted.Request
	// ModelMessage is a message of a chat request.
	ModelMessage = scripted.Message
	// ModelCall is a tool call of an assistant message.
	ModelCall = scripted.Call
	// ModelTool is a tool that a chat request offers.
	ModelTool = scripted.RequestTool
)

// LoadScript reads a script from a file. Its errors name file, line and
// column.
func LoadScript(path string) (Script, error) { return scripted.Load(path) }

// ParseScript reads a script. Unknown fields, wrong types and steps that make
// no sense are errors that name line and column.
func ParseScript(data []byte) (Script, error) { return scripted.Parse("script", data) }

// ModelServer is an OpenAI-compatible HTTP server that plays a [Script]. It
// is safe for concurrent use and keeps no conversation: which step is due
// follows from the request alone.
type ModelServer struct{ server *scripted.Server }

// NewModelServer starts a server on a free port of the loopback interface.
// Close it.
func NewModelServer(s Script) (*ModelServer, error) { return StartModelServer("127.0.0.1:0", s) }

// StartModelServer starts a server on addr ("host:port"). Close it.
func StartModelServer(addr string, s Script) (*ModelServer, error) {
	server, err := scripted.Start(addr, s)
	if err != nil {
		return nil, err
	}
	return &ModelServer{server}, nil
}

// URL is the server's base URL; it ends in /v1.
func (m *ModelServer) URL() string { return m.server.URL() }

// Close cuts all connections and waits until the server is gone. It may be
// called more than once.
func (m *ModelServer) Close() { m.server.Close() }

// Requests are the chat requests so far, illegal ones included, in the order
// they came in. The caller must not modify what they hold.
func (m *ModelServer) Requests() []ModelRequest { return m.server.Requests() }

// Err is the first thing that should not have happened: an illegal request,
// one beyond the script's end, or one to another path. A wrong script or a
// wrong client shows here even where the client swallows the answer.
func (m *ModelServer) Err() error { return m.server.Err() }

// Check fails the test if there is an [ModelServer.Err].
func (m *ModelServer) Check(t testing.TB) {
	t.Helper()
	if err := m.Err(); err != nil {
		t.Errorf("model server: %v", err)
	}
}
