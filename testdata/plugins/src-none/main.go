// The program does not use NRI.
package main

func main() { println("hello") }
