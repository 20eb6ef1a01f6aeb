# `make demo` and `make test` need only Python 3.11 or later and make: they create the
# virtual environment and install the project the first time, and when pyproject.toml changed.

VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Those that need no argument; benchmarks/corpus.py wants a folder.
BENCHES ?= benchmarks/research.py benchmarks/loop.py benchmarks/files.py benchmarks/large_result.py benchmarks/prefix.py benchmarks/log.py benchmarks/sixty_steps.py benchmarks/long_session.py benchmarks/isolation.py
QUESTION ?= How is a subagent kept from hurting its parent? What happens when a context grows too large? How is a quote verified? What are the exit codes?
# Exported, so that any character of a question reaches the program as it is.
export QUESTION

.DEFAULT_GOAL := help
.PHONY: help install lint check test fix demo bench snapshots

help:
	@echo "make demo       a cited report about this project, from its own docs (no API key needed)"
	@echo "make test       the tests"
	@echo "make check      format, lint, types, import rules, then the tests: what CI runs"
	@echo "make fix        format, and repair what the linter can repair"
	@echo "make bench      the benchmarks that need no argument"
	@echo "make snapshots  write tests/snapshots/ again after a wanted change; read the diff"

install: $(STAMP)

# An interpreter is asked for its version, not believed by its name: version managers put
# a python3.13 on the path that only says that 3.13 is not installed. An environment that works is
# kept; one that does not is made anew, and only a folder that is one is ever cleared.
RECENT := 'import sys; sys.exit(sys.version_info < (3, 11))'
$(STAMP): pyproject.toml
	@set -e; \
	if ! { $(BIN)/python -c $(RECENT) && $(BIN)/python -m pip --version; } >/dev/null 2>&1; then \
	  python=""; \
	  for candidate in $(PYTHON) python3.13 python3.12 python3.11 python3 python; do \
	    if "$$candidate" -c $(RECENT) >/dev/null 2>&1; then python="$$candidate"; break; fi; \
	  done; \
	  if [ -z "$$python" ]; then \
	    echo "Undrift needs Python 3.11 or later and found none on the PATH." >&2; \
	    echo "Install one from https://www.python.org/downloads/, or name it: make $(or $(MAKECMDGOALS),install) PYTHON=/path/to/python3.11" >&2; \
	    exit 1; \
	  fi; \
	  clear=""; if [ -f $(VENV)/pyvenv.cfg ]; then clear=--clear; fi; \
	  "$$python" -m venv $$clear $(VENV) || { \
	    echo "This Python cannot create virtual environments. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }; \
	fi; \
	echo "Installing into $(VENV) with $$($(BIN)/python --version), once, about a minute..."; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'; \
	touch $@

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

check: lint test

test: $(STAMP)
	@start=$$(date +%s); \
	$(BIN)/python -m pytest $(ARGS) && status=0 || status=$$?; \
	echo "make test took $$(( $$(date +%s) - start )) s after the install"; \
	exit $$status

fix: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

demo: $(STAMP)
	@start=$$(date +%s); \
	$(BIN)/undrift research "$$QUESTION" --docs docs --out runs --model extractive && status=0 || status=$$?; \
	echo "make demo took $$(( $$(date +%s) - start )) s after the install"; \
	exit $$status

bench: $(STAMP)
	@set -e; for bench in $(BENCHES); do echo "== $$bench"; $(BIN)/python "$$bench"; done

snapshots: $(STAMP)
	$(BIN)/python tests/test_project_public_names.py
