package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"

	"github.com/turnkeel/turnkeel/contract"
)

// attributeTypes are our search attributes with their types.
var attributeTypes = map[string]enumspb.IndexedValueType{
	contract.AttributeAgent:   enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	contract.AttributeSession: enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	contract.AttributeStatus:  enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	contract.AttributePending: enumspb.INDEXED_VALUE_TYPE_INT,
}

func (a *app) setupCommand() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Add the search attributes that turns write",
		Long: `Adds the search attributes that let turns be found by agent, session and what
waits for a person. Everything works without them; listing is then slower.
Where you may not add them, the command that an administrator has to run is
printed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.connect(cmd.Context(), "", "")
			if err != nil {
				return err
			}
			defer s.temporal.Close()
			return a.setup(cmd, s, dryRun)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what is missing")
	return cmd
}

func (a *app) setup(cmd *cobra.Command, s *session, dryRun bool) error {
	names, err := s.missingAttributes(cmd.Context())
	if err != nil {
		return err
	}
	if len(names) > 0 && !dryRun {
		missing := map[string]enumspb.IndexedValueType{}
		for _, name := range names {
			missing[name] = attributeTypes[name]
		}
		_, err := s.temporal.OperatorService().AddSearchAttributes(cmd.Context(), &operatorservice.AddSearchAttributesRequest{
			Namespace: s.info.Namespace, SearchAttributes: missing,
		})
		if err != nil {
			return fmt.Errorf("the server did not add them: %w\n%s", err, adminCommand(s.info.Namespace, names))
		}
	}
	if a.json() {
		return a.print(map[string]any{"missing": names, "added": len(names) > 0 && !dryRun})
	}
	switch {
	case len(names) == 0:
		fmt.Fprintln(a.out, "nothing is missing")
	case dryRun:
		fmt.Fprintf(a.out, "missing: %s\n%s\n", strings.Join(names, ", "), adminCommand(s.info.Namespace, names))
	default:
		fmt.Fprintf(a.out, "added: %s\n", strings.Join(names, ", "))
	}
	return nil
}

// missingAttributes are those of ours that the namespace lacks, sorted.
func (s *session) missingAttributes(ctx context.Context) ([]string, error) {
	known, err := s.temporal.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: s.info.Namespace})
	if err != nil {
		return nil, fmt.Errorf("ask for the search attributes of the namespace %s: %w", s.info.Namespace, err)
	}
	var names []string
	for name := range attributeTypes {
		if _, has := known.GetCustomAttributes()[name]; !has {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// hintAttributes says, on standard error, which search attributes are missing,
// if any are and the server tells.
func (a *app) hintAttributes(ctx context.Context, s *session) {
	names, err := s.missingAttributes(ctx)
	if err == nil && len(names) > 0 {
		fmt.Fprintf(a.errOut, "the namespace %s lacks the search attributes %s: everything works, but turns are not found by them; starter setup adds them\n",
			s.info.Namespace, strings.Join(names, ", "))
	}
}

func adminCommand(namespace string, names []string) string {
	command := "temporal operator search-attribute create --namespace " + namespace
	for _, name := range names {
		kind := "Keyword"
		if attributeTypes[name] == enumspb.INDEXED_VALUE_TYPE_INT {
			kind = "Int"
		}
		command += " --name " + name + " --type " + kind
	}
	return command
}
