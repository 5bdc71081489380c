# make check before each commit, make ci before a change lands.

linter = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.12.2
units = $(shell go list ./... | grep -v /integration_test)

.PHONY: help check vet lint unit test ci bench

help: ## what there is
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

check: vet lint unit ## vet, linters and unit tests: two minutes

vet: ## what go vet finds
	go vet ./...

lint: ## what the linters of .golangci.yml find
	go run $(linter) run ./...

unit: ## all tests but those against a real Caddy
	go test $(units)

test: ## all tests that need nothing but Go
	go test ./...

ci: ## all that must hold before a change lands; installs what it needs
	.ci/run

bench: ## what it costs, side by side with what an owner could use instead
	cd bench && go test -run '^$$' -bench . ./...
