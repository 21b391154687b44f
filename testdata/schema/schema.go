// Package schema holds the JSON Schemas of everything that nri-compat writes
// or reads as JSON or YAML, one file a document: NAME.v1.json.
package schema

import "embed"

// Files are the schemas.
//
//go:embed *.json
var Files embed.FS
