# Build, run, test and measure Waystation. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

# What `make recording` records.
STORIES ?= review chats

# What `make run` hands to the program.
ARGS ?= up

# Longer than all tests, or all lanes, take on a slow machine.
PATIENCE := 35m

# The build server builds exactly what Cargo.lock says, and holds a change to the lints as well.
ifeq ($(CI),true)
LOCKED := --locked
TIDY := check
else
LOCKED :=
TIDY := tidy
endif

.PHONY: help build run test check tidy bench recording deps deps-clients

## build: compile the program and everything beside it
build:
	cargo build --workspace $(LOCKED)

## run: compile and start the hub; `make run ARGS='…'` hands it other arguments
run:
	cargo run --release $(LOCKED) --package waystation -- $(ARGS)

## test: all tests, as the build server runs them; installs what it needs
test: deps deps-clients
	cargo build --workspace $(LOCKED)
# Whatever hangs is ended with time left to read what it said; one failure does not hide the others.
	timeout --foreground $(PATIENCE) cargo test --workspace $(LOCKED) --no-fail-fast
	$(MAKE) --no-print-directory $(TIDY)
	timeout --foreground $(PATIENCE) scripts/lanes

## check: formatting, lints and the rules of the house
check:
	cargo fmt --all --check
# Clippy gets the flag alone: in RUSTFLAGS it would compile every dependency a second time.
	cargo clippy --workspace --all-targets $(LOCKED) -- -D warnings
	$(MAKE) --no-print-directory tidy

## tidy: the rules of the house alone
tidy:
	cargo xtask tidy

## bench: measure the program; `make bench ARGS='…'` chooses what
bench: ARGS =
bench: .cache/venv/peers-fetched .cache/agents/fetched
	scripts/need bench
	cargo build --release $(LOCKED) --package waystation
	cargo run --release $(LOCKED) --package bench -- $(ARGS)

## recording: record the README's terminals anew, with the real agents and a model that thinks nothing
recording: .cache/agents/fetched
	cargo build --quiet $(LOCKED) --package waystation --package waystation-testkit --package xtask --bins
	for story in $(STORIES); do \
		python3 tests/clients/agents/record.py $$story target/debug target/recording.json && \
		cargo xtask recording target/recording.json docs/recordings/$$story || exit 1; \
	done

## deps: install the Debian packages that tests need and the machine lacks
deps:
	scripts/need test

# Foreign clients that lanes drive, pinned in tests/clients and fetched into .cache alone.
CLIENTS :=
ifneq ($(wildcard tests/clients/requirements.txt),)
CLIENTS += .cache/venv/fetched
endif
ifneq ($(wildcard tests/clients/package.json),)
CLIENTS += .cache/node/fetched
endif
ifneq ($(wildcard tests/clients/agents/package.json),)
CLIENTS += .cache/agents/fetched
endif

## deps-clients: fetch the clients that lanes drive into .cache
deps-clients: $(CLIENTS)

.cache/venv/fetched: tests/clients/requirements.txt
	scripts/need python
	python3 -m venv --clear .cache/venv
	scripts/again .cache/venv/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

# The peers that the bench compares with share that folder, and come back when it is made anew.
.cache/venv/peers-fetched: bench/peers/requirements.txt
	scripts/need python
	test -x .cache/venv/bin/pip || python3 -m venv .cache/venv
	scripts/again .cache/venv/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

NODE_FILES := $(wildcard tests/clients/package.json tests/clients/package-lock.json)
.cache/node/fetched: $(NODE_FILES)
	scripts/need node
	rm -rf .cache/node && mkdir -p .cache/node
	cp $(NODE_FILES) .cache/node/
	cd .cache/node && ../../scripts/again npm $(if $(filter %-lock.json,$(NODE_FILES)),ci,install) --silent --no-audit --no-fund
	touch $@

# The agent CLIs that are really woken. Their own installers are not run: what they would do is to find
# the program for this machine among the packages, which the links do.
.cache/agents/fetched: tests/clients/agents/package.json
	scripts/need node
	rm -rf .cache/agents && mkdir -p .cache/agents/bin
	cp $< .cache/agents/
	cd .cache/agents && ../../scripts/again npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts
	cd .cache/agents/bin && ln -s ../node_modules/@openai/codex-linux-*/vendor/*/bin/codex codex
	cd .cache/agents/bin && ln -s ../node_modules/@anthropic-ai/claude-code-linux-*/claude claude
	test -x .cache/agents/bin/codex -a -x .cache/agents/bin/claude
	touch $@

## help: this list
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)
