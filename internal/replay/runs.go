package replay

import (
	"context"
	"fmt"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
)

// Service is the part of a Temporal client that is read.
type Service interface {
	GetWorkflowHistory(ctx context.Context, workflowID, runID string, longPoll bool,
		filter enumspb.HistoryEventFilterType) sdkclient.HistoryEventIterator
	ListWorkflow(ctx context.Context, request *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
	CountWorkflow(ctx context.Context, request *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error)
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
}

// Parse reads how a run is named: WORKFLOW_ID or WORKFLOW_ID/RUN_ID. A workflow
// id may hold slashes of its own; what follows the last one is a run id if it
// has the form of one.
func Parse(name string) (workflowID, runID string) {
	if at := strings.LastIndexByte(name, '/'); at > 0 && isUUID(name[at+1:]) {
		return name[:at], name[at+1:]
	}
	return name, ""
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, r := range s {
		switch i {
		case 8, 13, 18, 23:
			if r != '-' {
				return false
			}
		default:
			if !strings.ContainsRune("0123456789abcdefABCDEF", r) {
				return false
			}
		}
	}
	return true
}

// History reads a run's whole history; an empty runID is the latest.
func History(ctx context.Context, s Service, workflowID, runID string) (*historypb.History, error) {
	it := s.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	h := &historypb.History{}
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			return nil, err
		}
		h.Events = append(h.Events, event)
	}
	return h, nil
}

// selection is which runs of a namespace are replayed.
type selection struct {
	namespace string
	all       string // the whole query
	others    string // the same for types that this binary does not have; empty if it has all
}

// selected makes the queries for the types, the user's condition and whether
// closed runs count too.
func selected(namespace string, types []string, every bool, condition string, closed bool) selection {
	var parts []string
	if !closed {
		parts = append(parts, "ExecutionStatus = 'Running'")
	}
	if condition != "" {
		parts = append(parts, "("+condition+")")
	}
	if every {
		return selection{namespace: namespace, all: strings.Join(parts, " AND ")}
	}
	quoted := make([]string, len(types))
	for i, t := range types {
		quoted[i] = "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(t) + "'"
	}
	in := "WorkflowType IN (" + strings.Join(quoted, ", ") + ")"
	return selection{
		namespace: namespace,
		all:       strings.Join(append([]string{in}, parts...), " AND "),
		others:    strings.Join(append([]string{"WorkflowType NOT IN (" + strings.Join(quoted, ", ") + ")"}, parts...), " AND "),
	}
}

// pageSize is how many runs one listing asks for.
const pageSize = 500

// each hands over the runs that a query finds, page by page, at most limit of
// them if that is above zero. next returns false to stop.
func each(ctx context.Context, s Service, sel selection, limit int, next func(workflowID, runID string) bool) error {
	var page []byte
	for n := 0; ; {
		response, err := s.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: sel.namespace, Query: sel.all, PageSize: pageSize, NextPageToken: page,
		})
		if err != nil {
			return fmt.Errorf("list the runs: %w", err)
		}
		for _, e := range response.GetExecutions() {
			if limit > 0 && n >= limit || !next(e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId()) {
				return nil
			}
			n++
		}
		if page = response.GetNextPageToken(); len(page) == 0 {
			return nil
		}
	}
}

// count is how many runs a query finds; -1 if the cluster does not say.
func count(ctx context.Context, s Service, namespace, query string) int64 {
	response, err := s.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: namespace, Query: query})
	if err != nil {
		return -1
	}
	return response.GetCount()
}
