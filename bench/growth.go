package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	sdkactivity "go.temporal.io/sdk/activity"
	sdkclient "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/devproc"
	"github.com/turnkeel/turnkeel/tooldefs"
)

const (
	growthTool    = "page"
	growthPayload = 8 << 10
	growthFormat  = "Turn %d pages, please."
	growthQueue   = "bench-growth"
)

// growthSteps are the lengths of turn that are set side by side.
var growthSteps = []int{10, 30, 100, 300}

func growthMessage(steps int) string { return fmt.Sprintf(growthFormat, steps) }

func growthArgs(step int) string { return fmt.Sprintf(`{"page":%d}`, step) }

// GrowthReport is the outcome of --growth.
type GrowthReport struct {
	Date    string      `json:"date"`
	Machine Machine     `json:"machine"`
	Payload int         `json:"result_bytes"`
	Rows    []GrowthRow `json:"rows"`
}

// GrowthRow is a turn of one length: ours, and the repeated-input pattern.
type GrowthRow struct {
	Steps   int `json:"steps"`
	Content int `json:"content_bytes"` // said once, each argument twice

	Bytes      int     `json:"bytes"`
	Events     int     `json:"events"`
	ToContent  float64 `json:"bytes_to_content"`
	EventsRead int64   `json:"fold_events_read"`
	ReadRatio  float64 `json:"fold_events_to_history"`
	FoldMS     float64 `json:"fold_ms"`
	TurnMS     float64 `json:"turn_ms"`
	FoldPart   float64 `json:"fold_part_of_turn"`

	RepeatBytes  int    `json:"repeat_bytes"`
	RepeatEvents int    `json:"repeat_events"`
	RepeatSteps  int    `json:"repeat_steps"` // model calls that were answered
	RepeatEnd    string `json:"repeat_end"`
}

// growth measures turns of growing length on the tuned server.
func growth(ctx context.Context, o settings, stdout, stderr io.Writer) error {
	report := GrowthReport{Date: time.Now().UTC().Format(time.DateTime), Machine: thisMachine(), Payload: growthPayload}
	bin, err := devproc.Ensure(ctx, devproc.Printer(stderr))
	if err != nil {
		return err
	}
	server, err := devproc.Start(ctx, bin, devproc.Options{Stderr: io.Discard})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		_ = server.Stop(ctx)
	}()
	model, m := growthModel(), newMeter()
	defer model.Close()
	client, err := sdkclient.DialContext(ctx, sdkclient.Options{
		HostPort: server.Address, Namespace: server.Namespace, MetricsHandler: m, Logger: quiet{},
	})
	if err != nil {
		return err
	}
	defer client.Close()
	worker, err := growthWorker(client, model.URL+"/v1")
	if err != nil {
		return err
	}
	defer worker.Stop()
	s := &stack{client: client}
	turns := turnkeel.NewClient(client, turnkeel.ClientOptions{Namespace: server.Namespace, TaskQueue: growthQueue})
	for _, n := range growthSteps {
		fmt.Fprintf(stderr, "growth: %d steps\n", n)
		row := GrowthRow{Steps: n, Content: len(growthMessage(n)) + len(secondText) + n*(len(firstText)+2*len(growthArgs(n))+growthPayload)}
		if err := growOurs(ctx, s, turns, m, &row); err != nil {
			return err
		}
		if err := growRepeat(ctx, s, &row); err != nil {
			return err
		}
		report.Rows = append(report.Rows, row)
	}
	return writeGrowth(report, o, stdout)
}

func growthWorker(client sdkclient.Client, url string) (sdkworker.Worker, error) {
	var options sdkworker.Options
	turnkeel.SetWorkerDefaults(&options)
	worker := sdkworker.New(client, growthQueue, options)
	tool := tooldefs.Define(tooldefs.Spec[page, string]{
		Name: growthTool, Description: "Turns a page.", Effects: tooldefs.None,
		Handler: func(context.Context, *tooldefs.Call, page) (string, error) { return growthResult(), nil },
	})
	err := turnkeel.Register(worker, turnkeel.Options{Tools: []*tooldefs.Tool{tool}, Agents: []contract.Agent{{
		Name: agentName, Model: "openai/scripted", Tools: []string{growthTool},
		Endpoint: contract.Endpoint{BaseURL: url}, Limits: contract.Limits{MaxSteps: 1000},
	}}})
	if err != nil {
		return nil, err
	}
	worker.RegisterWorkflowWithOptions(repeatTurn, workflow.RegisterOptions{Name: repeatWorkflow})
	worker.RegisterActivityWithOptions(answerRepeat, sdkactivity.RegisterOptions{Name: repeatModel})
	worker.RegisterActivityWithOptions(runRepeatTool, sdkactivity.RegisterOptions{Name: repeatTool})
	return worker, worker.Start()
}

// page is the tool's input.
type page struct {
	Page int `json:"page"`
}

func growOurs(ctx context.Context, s *stack, turns *turnkeel.Client, m *meter, row *GrowthRow) error {
	readBefore, timeBefore := m.folds()
	began := time.Now()
	turn, err := turns.Start(ctx, turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent: agentName, Messages: []contract.Message{{Role: contract.RoleUser, Content: growthMessage(row.Steps)}},
	}})
	if err != nil {
		return err
	}
	result, err := turn.Result(ctx)
	took := time.Since(began)
	if err != nil || result.Effects.Done != row.Steps || result.Text != secondText {
		return fmt.Errorf("our turn of %d steps did not do its work: %+v: %w", row.Steps, result, err)
	}
	events, err := s.history(ctx, ended{id: turn.ID, runID: turn.RunID})
	if err != nil {
		return err
	}
	read, folding := m.folds()
	w := weigh(events)
	row.Bytes, row.Events = int(w.bytes), int(w.events)
	row.ToContent = float64(row.Bytes) / float64(row.Content)
	row.EventsRead = read - readBefore
	row.ReadRatio = float64(row.EventsRead) / float64(row.Events)
	row.FoldMS = float64(folding-timeBefore) / float64(time.Millisecond)
	row.TurnMS = float64(took) / float64(time.Millisecond)
	row.FoldPart = row.FoldMS / row.TurnMS
	return nil
}

// growRepeat runs the pattern, and says how it ended: it may not last.
func growRepeat(ctx context.Context, s *stack, row *GrowthRow) error {
	run, err := s.client.ExecuteWorkflow(ctx, sdkclient.StartWorkflowOptions{TaskQueue: growthQueue}, repeatWorkflow, row.Steps)
	if err != nil {
		return err
	}
	runErr := run.Get(ctx, nil)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	events, err := s.history(ctx, ended{id: run.GetID(), runID: run.GetRunID()})
	if err != nil {
		return err
	}
	w := weigh(events)
	row.RepeatBytes, row.RepeatEvents = int(w.bytes), int(w.events)
	row.RepeatSteps, row.RepeatEnd = modelCalls(events), "completed"
	if runErr != nil {
		row.RepeatEnd = endOf(events[len(events)-1])
	}
	return nil
}

// modelCalls counts the pattern's model calls that were answered.
func modelCalls(events []*historypb.HistoryEvent) (n int) {
	model := map[int64]bool{}
	for _, e := range events {
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == repeatModel {
			model[e.GetEventId()] = true
		}
		if model[e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()] {
			n++
		}
	}
	return n
}

// endOf says why a run was ended, in the server's own words.
func endOf(e *historypb.HistoryEvent) string {
	if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED {
		return "terminated: " + e.GetWorkflowExecutionTerminatedEventAttributes().GetReason()
	}
	return e.GetEventType().String() + ": " + e.GetWorkflowExecutionFailedEventAttributes().GetFailure().GetMessage()
}

func writeGrowth(r GrowthReport, o settings, stdout io.Writer) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := writeJSON(append(text, '\n'), o, stdout); err != nil || o.json {
		return err
	}
	fmt.Fprintf(stdout, "growth %s · %s/%s, %d CPUs, %s · one tool call a step, %d bytes each result\n\n",
		r.Date, r.Machine.OS, r.Machine.Arch, r.Machine.CPUs, r.Machine.Go, r.Payload)
	tw := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "steps\tcontent\tours: bytes\t× content\tevents\tread by folds\t× history\tfold ms\t% of turn\trepeated: bytes\tevents\tmodel calls\tend")
	for _, w := range r.Rows {
		fmt.Fprintf(tw, "%d\t%d\t%d\t%.2f\t%d\t%d\t%.2f\t%.0f\t%.1f\t%d\t%d\t%d\t%s\n", w.Steps, w.Content, w.Bytes, w.ToContent, w.Events,
			w.EventsRead, w.ReadRatio, w.FoldMS, 100*w.FoldPart, w.RepeatBytes, w.RepeatEvents, w.RepeatSteps, w.RepeatEnd)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "\n- The model answers at once: in life a turn takes longer, and the part of the folds is smaller.")
	fmt.Fprintln(stdout, "- must: bytes ≤ 1.3 × content at 100 steps, events read ≤ 1.2 × history at 300.")
	return nil
}
