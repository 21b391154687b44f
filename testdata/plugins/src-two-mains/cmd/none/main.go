// Command none has nothing to do with NRI.
package main

func main() { println("hello") }
