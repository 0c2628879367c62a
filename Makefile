# Each target sets up what it needs in .venv, on any machine with Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

# Tests read real data from the folder named by XORDAL_DATA; without it they are skipped, saying so.
ifneq ($(wildcard ../shared/data),)
export XORDAL_DATA ?= $(abspath ../shared/data)
endif

.PHONY: browser demo test test-fast check bench pages clean help

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/'

demo: $(VENV)/.installed  ## set up and learn the paper's music box
	@$(BIN)/xordal demo
	@echo; echo "The command is $(BIN)/xordal; '. $(BIN)/activate' puts it on your path."

# Tests of the pages need a browser, and playwright's driver libatomic; without a browser they are skipped and say
# how to get one.
browser:
	@if [ "`id -u`" = 0 ] && [ -f /etc/debian_version ] && { ! ldconfig -p | grep -q libatomic.so.1 || \
	    { [ -z "$$CHROMIUM" ] && ! command -v chromium >/dev/null; }; }; then \
	  apt-get update -q && apt-get install -y -q chromium libatomic1; fi

test: $(VENV)/.installed-dev browser  ## set up and run all tests
	$(BIN)/python -m pytest -n auto

test-fast: $(VENV)/.installed-dev  ## the tests that take a minute in all
	$(BIN)/python -m pytest -n auto -m "not slow and not long"

check: $(VENV)/.installed-dev  ## formatting, lint and types
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

bench: $(VENV)/.installed-dev  ## measure; ratios against the reference in the same run
	$(BIN)/python -m pytest benchmarks --benchmark-only --benchmark-group-by=param:task -p no:xdist
	$(BIN)/python -m benchmarks.scan -o docs/benchmarks/scan.md
	$(BIN)/python -m benchmarks.learning -o docs/benchmarks/learning.md

pages: $(VENV)/.installed-dev  ## build the pages of the gallery and the pictures of the documentation anew
	$(BIN)/python docs/gallery.py
	$(BIN)/python docs/images/make.py

clean:  ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "xordal needs Python 3.11 or newer; $(PYTHON) is `$(PYTHON) --version 2>&1`."; \
	  echo "Name another one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  if [ "`id -u`" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -q && apt-get install -y -q python3-venv; \
	  else echo "Python's venv module is missing: sudo apt-get install python3-venv"; exit 1; fi; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[dev,bench]"
	@touch $@ $(VENV)/.installed
