// Package e2e tests against real container runtimes: containerd releases that it
// builds as ordinary Go modules and starts with directories and sockets of their
// own, and the half of a kubelet that device plugins meet. It has tests only; they need the build tag e2e and root.
package e2e
