// The program stands in for the executable of a kubelet that is asked for its
// version. How it behaves is linked into it, because it gets no environment.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

var (
	behaviour = "answer"
	// alive is a named pipe that is open for writing while a process of this
	// program lives.
	alive string
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "child" {
		hold()
		fmt.Println("held")
		live()
	}
	if len(os.Args) != 2 || os.Args[1] != "--version" || len(os.Environ()) != 0 {
		fmt.Printf("run as %q with %q\n", os.Args, os.Environ())
		return
	}
	if n, err := io.Copy(io.Discard, os.Stdin); n != 0 || err != nil {
		fmt.Printf("standard input: %d, %v\n", n, err)
		return
	}
	switch behaviour {
	case "answer":
		fmt.Println("Kubernetes v1.34.1")
	case "vendor":
		fmt.Print("Kubernetes v1.30.4+k3s1")
	case "nonsense":
		fmt.Println("\x1b[31mKubernetes\x1b[0m is great")
	case "silent":
		os.Exit(7)
	case "flood":
		hold()
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
				live() // although the pipe is closed
			}
		}
	case "hang":
		hold()
		live()
	case "fork":
		fork(false)
		fmt.Println("Kubernetes v1.34.1")
	case "fork and hang":
		fork(false)
		live()
	case "escape":
		fork(true)
		fmt.Println("Kubernetes v1.34.1")
	}
}

// live never returns.
func live() {
	for {
		time.Sleep(time.Hour)
	}
}

// hold opens the named pipe and never closes it.
func hold() {
	fd, err := syscall.Open(alive, syscall.O_WRONLY, 0)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = fd
}

// fork starts a process that keeps standard output open and lives on, and waits
// until it has opened the named pipe.
func fork(session bool) {
	cmd := exec.Command("/proc/self/exe", "child", "--version")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	cmd.Stderr = os.Stdout
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
