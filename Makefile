# make check before each commit, make ci before a change lands.

linter = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.12.2
units = $(shell go list ./... | grep -v /integration_test)

releaser = github.com/goreleaser/goreleaser/v2@v2.15.4
PREFIX = /usr/local

.PHONY: help check vet lint unit test ci bench build install debian image compose snapshot release

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
	bench/run

build: ## Caddy with robots in it, as ./caddy
	go build -trimpath ./cmd/caddy

install: ## what "make build" made, into $(DESTDIR)$(PREFIX)/bin
	install -D -m 755 caddy $(DESTDIR)$(PREFIX)/bin/caddy

debian: ## the same, beside the caddy of Debian's package, which stays: as docs/operations.md has it
	dpkg-divert --divert /usr/bin/caddy.default --rename /usr/bin/caddy
	install -m 755 caddy /usr/bin/caddy.robots
	update-alternatives --install /usr/bin/caddy caddy /usr/bin/caddy.default 10
	update-alternatives --install /usr/bin/caddy caddy /usr/bin/caddy.robots 50
	systemctl restart caddy

image: ## a container's image, caddy-robots
	docker build -t caddy-robots .

compose: ## the example site in containers, at http://localhost
	docker compose up --build

snapshot: ## all archives and checksums of a release, in dist, without a release
	go run $(releaser) release --snapshot --clean

release: ## of the tag that is checked out, with NOTES, a file; needs GITHUB_TOKEN
	go run $(releaser) release --clean --release-notes $(NOTES)
