// Command nri-compat tells whether an NRI plugin works on a container runtime
// release, and what exactly happens if it does not.
package main

import (
	"context"
	"os"

	"github.com/nri-compat/nri-compat/cmd"
)

func main() {
	os.Exit(cmd.Main(context.Background(), os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
