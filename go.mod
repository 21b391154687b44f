module github.com/nri-compat/nri-compat

go 1.26.0
