module example.com/src-own-copy

go 1.24
