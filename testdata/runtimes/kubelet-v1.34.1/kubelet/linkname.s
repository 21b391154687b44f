// The function that main.go takes from another package has no body: an assembly
// file, even an empty one, tells the compiler so.
