module example.com/src-none

go 1.24
