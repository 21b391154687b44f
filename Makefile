# Commands for people who work on nri-compat. Go is all they need.

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    = 20s
GOFLAGS_RELEASE = -trimpath -ldflags "-s -w"

.PHONY: help build test test-browser test-e2e chromium check bench fuzz table golden docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "%-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/nri-compat as it is released
	CGO_ENABLED=0 go build $(GOFLAGS_RELEASE) -o bin/nri-compat .

test: ## run all tests
	go test ./...

chromium: ## install Chromium for the tests of the pages, as root on Debian
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -yqq --no-install-recommends chromium fonts-dejavu-core >/dev/null; \
	else echo "no Chromium, and it can be installed as root on Debian only: the tests of the pages will be skipped"; fi

test-browser: chromium ## run the tests of the pages in Chromium
	go test -count 1 -run 'InBrowser|PagesWithoutScripts' -v .

test-e2e: ## probe and check real containerd releases and a kubelet; builds them once; needs root
	go test -tags e2e -count=1 -timeout 30m ./internal/e2e ./internal/standin

check: ## gofmt, vet, staticcheck, tidy go.mod, import rules
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "gofmt: run gofmt -w on these"; exit 1; }
	go vet ./...
	go vet -tags e2e ./internal/e2e ./internal/standin
	go run $(STATICCHECK) -tags e2e ./...
	go mod tidy -diff
	go test -run 'TestImportRules|TestCapabilityIsStandardLibraryOnly|TestProcessStaysInCmd' .

bench: build ## print ratios of running times, and the size of the binary
	go test -run '^$$' -bench . -benchtime 20x ./...

fuzz: ## run every fuzz target for FUZZTIME
	@git grep -oE '^func Fuzz[A-Za-z0-9]+' -- '*_test.go' | while IFS=: read -r file target; do \
		set -- $$(dirname $$file) "$${target#func }"; echo "$$1 $$2"; \
		go test -run '^$$' -fuzz "^$$2$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x ./$$1 </dev/null || exit 1; \
	done

table: ## compare the table with the source: make table CONTAINERD=dir CRIO=dir NRI=dir KUBERNETES=all
	go run ./inference/gen -containerd "$(CONTAINERD)" -crio "$(CRIO)" -nri "$(NRI)" -kubernetes "$(KUBERNETES)"

golden: ## rewrite expected outputs, schemas and frozen rows; read the diff
	go test ./internal/report ./inference -run 'Schemas|Frozen|CheckFormats' -update
	go test . -run 'TestScripts' -update

docs: ## rewrite the generated parts of the documentation
	go test . -run 'TestReadme|TestCapabilityPage|TestNodeLabels' -update
	go test ./cmd -run TestGeneratedDocs -update

clean: ## remove what was built, the runtimes for tests too
	rm -rf bin dist .cache
