// Package gomod edits go.mod files so that k8s.io/kubernetes can be imported.
//
// Kubernetes keeps the libraries it publishes (k8s.io/api, k8s.io/kubelet and
// others, its staging modules) in its own tree: its go.mod requires them at
// v0.0.0 and replaces them by directories. Replace directives do not count for
// who imports a module, so an importer has to say itself that v0.0.0 means the
// version that was published along with the release. Release 1.X.Y publishes
// them as v0.X.Y.
//
// In a workspace, the replace directives of its go.work file and of its other
// modules count as well; [Work.Contradictions] tells which of them undo a pin.
//
// The package changes nothing but require and replace lines of Kubernetes and
// its staging modules, keeps comments and order, and never changes a module
// that somebody replaced by something else. It does not write files.
package gomod
