package cmd

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/nri-compat/nri-compat/testdata/schema"
	"github.com/spf13/cobra"
)

func newSchema(a *app) *cobra.Command {
	return &cobra.Command{
		Use:       "schema NAME",
		GroupID:   groupData,
		Short:     "Print the JSON Schema of a document",
		Long:      "Print the JSON Schema of a document: " + strings.Join(schemaNames(), ", ") + ".",
		Example:   "  nri-compat schema check > check.schema.json",
		Args:      cobra.ExactArgs(1),
		ValidArgs: schemaNames(),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(a.outputs.list) > 0 {
				return usagef("schema has one format only: leave out --output")
			}
			if !slices.Contains(schemaNames(), args[0]) {
				return usagef("unknown document %q: use one of %s", args[0], strings.Join(schemaNames(), ", "))
			}
			text, err := fs.ReadFile(schema.Files, args[0]+".v1.json")
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(a.stdout, string(text))
			return err
		},
	}
}

func schemaNames() []string {
	var names []string
	files, _ := fs.Glob(schema.Files, "*.v1.json") // the pattern is well-formed
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f, ".v1.json"))
	}
	return names
}
