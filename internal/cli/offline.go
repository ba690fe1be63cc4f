package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/examples/support"
	"github.com/turnkeel/turnkeel/internal/agentfile"
	"github.com/turnkeel/turnkeel/internal/scripted"
)

// cast plays the models of the agents of one folder, each by the script of its
// own, for a worker without a key. It is safe for concurrent use.
type cast struct {
	parts []part
	mute  []string // the agents that no script plays
	first string   // an agent to try first, with a message for it
	says  string
	sure  int // how well it is known to answer
}

// part is an agent's script. A request shows whose it is by its model and by
// the instructions that it begins with.
type part struct {
	agent, model, instructions string
	plays                      *scripted.Model
}

// firstMessage is for an agent whose script says nothing better.
const firstMessage = "Hello, what can you do?"

// castOf reads the scripts beside the agents of dir. An agent that is wrong is
// left to the worker, which says all that is wrong with it.
func castOf(dir string) (*cast, error) {
	definitions, _ := agentfile.Read(dir)
	c := &cast{}
	for _, d := range definitions {
		script, found, err := offlineScript(d)
		if err != nil {
			return nil, err
		}
		name, message := d.Agent.Name, firstMessage
		switch {
		case script.Message != "":
			message = script.Message
		case name == support.AgentName:
			message = "Refund order A-1001, please."
		}
		c.suggest(name, message, found)
		switch _, model, _ := strings.Cut(d.Agent.Model, "/"); {
		case ownModel(d) != "": // no variable of ours leads it elsewhere
		case !found:
			c.mute = append(c.mute, name)
		default:
			c.parts = append(c.parts, part{name, model, d.Agent.Instructions, scripted.NewModel("the script of the agent "+name, script)})
		}
	}
	return c, nil
}

// suggest takes the agent that is to be tried first: that of the example, else
// one with a script, else any.
func (c *cast) suggest(name, message string, scripted bool) {
	sure := 1
	switch {
	case name == support.AgentName:
		sure = 3
	case scripted:
		sure = 2
	}
	if sure > c.sure {
		c.first, c.says, c.sure = name, message, sure
	}
}

// ownModel is the model of an agent that neither a script of the demo nor
// [envBaseURL] stands in for, and "" for any other.
func ownModel(d agentfile.Definition) string {
	provider, _, _ := strings.Cut(d.Agent.Model, "/")
	if d.Agent.Endpoint.Provider != "" {
		provider = d.Agent.Endpoint.Provider
	}
	if d.Script == nil && provider == "openai" && d.Agent.Endpoint.BaseURL == "" {
		return ""
	}
	return d.Agent.Model
}

// offlineScript is what plays an agent's model where no real one is named.
func offlineScript(d agentfile.Definition) (s agenttest.Script, found bool, err error) {
	file := filepath.Join(filepath.Dir(d.File), demoFile)
	if d.Script != nil {
		file = d.ScriptFile
	}
	data, err := os.ReadFile(file) //nolint:gosec // the user's own
	switch {
	case errors.Is(err, fs.ErrNotExist) && d.Agent.Name == support.AgentName:
		data = support.DemoScript()
	case errors.Is(err, fs.ErrNotExist):
		return s, false, nil
	case err != nil:
		return s, false, err
	}
	if s, err = agenttest.ParseScript(data); err != nil {
		return s, false, fmt.Errorf("%s: %w", file, err)
	}
	return s, true, nil
}

// listen serves the cast on a free port of the loopback interface.
func (c *cast) listen() (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: c, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // until stop
	}()
	return "http://" + listener.Addr().String() + "/v1", func() { _ = server.Close(); <-served }, nil
}

// ServeHTTP implements http.Handler.
func (c *cast) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, _ := scripted.ReadRequest(r) // the model says what is wrong with it
	r.Body = io.NopCloser(bytes.NewReader(request.Body))
	instructions := ""
	if len(request.Messages) > 0 && request.Messages[0].Role == "system" {
		instructions = request.Messages[0].Content
	}
	for _, p := range c.parts {
		if p.model == request.Model && p.instructions == instructions {
			p.plays.ServeHTTP(w, r)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{
		"message": fmt.Sprintf("no script plays this agent; start again with %s set, or with %s for another OpenAI-compatible server, or write a %s beside its agent.yaml", envAPIKey, envBaseURL, demoFile),
		"type":    "invalid_request_error", "code": "invalid_api_key",
	}})
}

// tell says who plays, in one line.
func (c *cast) tell() string {
	var played []string
	for _, p := range c.parts {
		played = append(played, p.agent)
	}
	set := fmt.Sprintf("since neither %s nor %s is set; set one to run this on a real model", envAPIKey, envBaseURL)
	switch {
	case len(played) > 0 && len(c.mute) == 0:
		return "Model: a script plays it, " + set
	case len(played) > 0:
		return fmt.Sprintf("Model: a script plays that of %s, %s. Turns of %s fail until then: there is no script beside the agent.yaml",
			strings.Join(played, ", "), set, strings.Join(c.mute, ", "))
	case len(c.mute) > 0:
		return fmt.Sprintf("Model: none, %s. Until then turns of %s fail: there is no %s beside the agent.yaml, which a script could play",
			set, strings.Join(c.mute, ", "), demoFile)
	}
	return "Model: as each agent.yaml says"
}
