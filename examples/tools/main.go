// Program tools shows how tools are written, one file per tool, and runs them
// in a turn of a scripted model on a real Temporal server:
//
//	go run ./examples/tools
//
// Read, in this order:
//
//   - book_expense.go: a typed tool with an effect
//   - read_receipt.go: a stream tool
//   - convert.go: a tool wrapped around a foreign schema
//   - month.go: a workflow of one's own that calls a tool by name
//   - main_test.go: tools tested without a server
//
// It needs no key and no running server; TEMPORAL_ADDRESS makes it use one.
package main

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	sdkclient "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/conn"
	"github.com/turnkeel/turnkeel/internal/logging"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// agentName is the agent that has the tools.
const agentName = "bookkeeper"

//go:embed script.yaml
var script []byte

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "examples/tools:", err)
		os.Exit(1)
	}
}

// allTools is the single wiring: what a model is shown and what can run.
func allTools() ([]*tooldefs.Tool, error) {
	convert, err := Convert(func(string) (float64, error) { return 0.92, nil })
	if err != nil {
		return nil, err
	}
	return []*tooldefs.Tool{BookExpense(&Books{}), ReadReceipt(), convert}, nil
}

// run brings up a server, a scripted model and a worker, and shows the parts.
func run(ctx context.Context, out io.Writer) error {
	server, stopServer, err := agenttest.MainServer(ctx)
	if err != nil {
		return err
	}
	defer stopServer()
	client, _, err := conn.Dial(ctx, conn.Overrides{Address: server.Address, Namespace: server.Namespace}, logging.Temporal(zap.NewNop()))
	if err != nil {
		return err
	}
	defer client.Close()
	queue := "examples-tools-" + strings.ToLower(rand.Text()[:10])
	stopWorker, err := serve(client, queue)
	if err != nil {
		return err
	}
	defer stopWorker()
	if err := modelTurn(ctx, out, client, server.Namespace, queue); err != nil {
		return err
	}
	return ownWorkflow(ctx, out, client, queue)
}

// serve runs a worker with an agent that has all the tools.
func serve(client sdkclient.Client, queue string) (stop func(), err error) {
	parsed, err := agenttest.ParseScript(script)
	if err != nil {
		return nil, err
	}
	model, err := agenttest.NewModelServer(parsed)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			model.Close()
		}
	}()
	tools, err := allTools()
	if err != nil {
		return nil, err
	}
	var options sdkworker.Options
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(client, queue, options)
	err = turnkeel.Register(worker, turnkeel.Options{Tools: tools, Agents: []contract.Agent{{
		Name: agentName, Model: "openai/scripted", Instructions: "You book expenses.",
		Tools: []string{"all"}, Endpoint: contract.Endpoint{BaseURL: model.URL()},
	}}})
	if err != nil {
		return nil, err
	}
	worker.RegisterWorkflow(BookMonth)
	if err = worker.Start(); err != nil {
		return nil, err
	}
	return func() { worker.Stop(); model.Close() }, nil
}

// modelTurn is one turn in which the model calls all three tools.
func modelTurn(ctx context.Context, out io.Writer, client sdkclient.Client, namespace, queue string) error {
	turns := turnkeel.NewClient(client, turnkeel.ClientOptions{Namespace: namespace, TaskQueue: queue})
	turn, err := turns.Start(ctx, turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent:    agentName,
		Messages: []contract.Message{{Role: contract.RoleUser, Content: "Book lunch.jpg, and the taxi: 20 dollars."}},
	}})
	if err != nil {
		return err
	}
	if _, err := turn.Result(ctx); err != nil {
		return err
	}
	return show(ctx, out, client, turn)
}

// ownWorkflow runs BookMonth beside the turns, on the same worker.
func ownWorkflow(ctx context.Context, out io.Writer, client sdkclient.Client, queue string) error {
	lunch := Expense{Date: "2026-11-30", Cents: 12_00, Category: "meals"}
	month, err := client.ExecuteWorkflow(ctx, sdkclient.StartWorkflowOptions{ID: "month-" + queue, TaskQueue: queue},
		BookMonth, Month{Expenses: []Expense{lunch, lunch}})
	if err != nil {
		return err
	}
	var last Booked
	if err := month.Get(ctx, &last); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nworkflow %s\n\nbooked up to %s, %d cents in all\n", month.GetID(), last.ID, last.Total)
	return showCalls(ctx, out, client, month.GetID(), month.GetRunID())
}
