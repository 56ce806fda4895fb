# Forja. `make help` names what there is to do.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run test setup setup-dev checks format requirements find-python

# Our lines and files are UTF-8 whatever the locale.
export PYTHONUTF8 := 1

# Settable here or in the environment: make run PORT=8080
export PORT HOST FORJA_HOME

ifeq ($(strip $(PORT)),)
unexport PORT
endif
ifeq ($(strip $(HOST)),)
unexport HOST
endif
ifeq ($(strip $(FORJA_HOME)),)
unexport FORJA_HOME
endif

# The first of these that is 3.11 or newer.
CANDIDATES := python3 python3.11 python3.12 python3.13 python3.14
ifeq ($(origin PYTHON),undefined)
PYTHON := $(shell for name in $(CANDIDATES); do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$name" && break; done)
endif
BIN := .venv/bin
TYPED := sandboxes forja_site runs settings_ui

help: ## Say what there is to do
	@echo "Forja"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|' 2>/dev/null || true
	@echo "Settable: PORT (8000), HOST (127.0.0.1), FORJA_HOME (var), as in: make run PORT=8080"

run: setup ## Set up and start everything; prints a link to sign in
	@exec $(BIN)/python manage.py serve

test: setup-dev ## Set up and run every test and check
	@status=0; \
	env -u FORJA_HOME -u HOST -u PORT $(BIN)/python -m pytest || status=1; \
	$(MAKE) --no-print-directory checks || status=1; \
	exit $$status

checks: setup-dev ## Lint, types, and which module may import which
	@status=0; \
	$(BIN)/ruff check . || status=1; \
	$(BIN)/mypy $(TYPED) || status=1; \
	$(BIN)/lint-imports --no-logo || status=1; \
	exit $$status

setup: find-python ## Only set up
	@$(PYTHON) -m forja_site.bootstrap

setup-dev: find-python ## Only set up, with what the tests need
	@$(PYTHON) -m forja_site.bootstrap --dev

format: setup-dev ## Put the code into shape
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

requirements: ## Pin anew what requirements.in and requirements-dev.in ask for (needs pip-compile on the PATH)
	@for name in requirements requirements-dev; do \
		pip-compile --quiet --generate-hashes --no-header --no-emit-index-url --no-emit-find-links \
			--strip-extras --allow-unsafe --output-file $$name.txt $$name.in || exit 1; done

find-python:
	@test -n "$(PYTHON)" || { echo "Forja needs Python 3.11 or newer as python3 on the PATH (on Debian: apt install python3 python3-venv)." >&2; exit 1; }
