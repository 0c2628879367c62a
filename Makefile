# Each target sets up what it needs in .venv, on any machine with Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

# Tests read real data from the folder named by XORDAL_DATA; without it they are skipped, saying so.
ifneq ($(wildcard ../shared/data),)
export XORDAL_DATA ?= $(abspath ../shared/data)
endif

.PHONY: browser libraries database demo test test-fast test-long test-gpu check bench pages docs pythons clean help

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/'

demo: $(VENV)/.installed  ## set up and learn the paper's music box
	@$(BIN)/xordal demo
	@echo; echo "The command is $(BIN)/xordal; '. $(BIN)/activate' puts it on your path."

# What pip cannot bring are packages of the system: $(call apt,TEST,PACKAGE) installs one where the test fails and
# we are root on Debian, and names it otherwise.
apt = $(1) 2>/dev/null || { if [ "`id -u`" = 0 ] && [ -f /etc/debian_version ]; then \
    apt-get update -q && apt-get install -y -q $(2); \
  else echo "$(2) is missing; on Debian: sudo apt-get install $(2)"; fi; }
loads = $(BIN)/python -c 'import ctypes; ctypes.CDLL("$(1)")'

# Tests of the pages need a browser, and playwright's driver libatomic; without a browser they are skipped and say
# how to get one.
browser: $(VENV)/.created
	@$(call apt,{ [ -n "$$CHROMIUM" ] || command -v chromium >/dev/null; },chromium)
	@$(call apt,$(call loads,libatomic.so.1),libatomic1)

# pyAgrum, which tests and benchmarks compare with, needs libgomp.
libraries: $(VENV)/.created
	@$(call apt,$(call loads,libgomp.so.1),libgomp1)

# Tests of queries start a PostgreSQL of their own; without one they are skipped and say how to get it.
database:
	@$(call apt,{ command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null; },postgresql)

# One process per core, so one thread of linear algebra in each.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

test: $(VENV)/.installed-dev libraries browser  ## set up and run all tests but the long ones
	$(PYTEST) -m "not long"

test-fast: $(VENV)/.installed-dev libraries  ## a first look in a minute: no slow tests, fewer random examples
	XORDAL_TEST_FAST=1 $(PYTEST) -m "not slow and not long"

# What takes long: what is marked so, and the kernels as plain Python, where indices are checked.
test-long: $(VENV)/.installed-dev libraries database  ## what takes long: services, fuzzing, kernels without the compiler
	$(PYTEST) -m long
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m "not long" tests/contract tests/unit/counting/test_shares.py

# Needs an NVIDIA GPU (Ampere or newer) and CuPy; without them it fails and says so.
test-gpu: $(VENV)/.installed-dev  ## the contract of all backends on a GPU
	$(BIN)/python -m pip install --quiet --editable ".[dev,gpu]"
	XORDAL_TEST_GPU=1 $(BIN)/python -m pytest -n 0 -k gpu tests/contract tests/unit/counting/test_gpu.py tests/unit/counting/test_gpu_device.py

# Each Python that is installed has an environment of its own.
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
pythons:  ## the quick tests with every Python that is installed, each in an environment of its own
	@for python in $(PYTHONS); do \
	  $$python -c "" 2>/dev/null || { echo "$$python is not installed"; continue; }; \
	  echo "== $$python"; $(MAKE) VENV=.venv-$${python##*/} PYTHON=$$python test-fast || exit 1; \
	done

check: $(VENV)/.installed-dev  ## formatting, lint and types
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

bench: $(VENV)/.installed-dev libraries  ## measure; ratios against the reference in the same run
	$(BIN)/python -m pytest benchmarks --benchmark-only --benchmark-group-by=param:task -p no:xdist
	$(BIN)/python -m benchmarks.scan -o docs/benchmarks/scan.md
	$(BIN)/python -m benchmarks.learning -o docs/benchmarks/learning.md
	$(BIN)/python -m benchmarks.live -o docs/benchmarks/live.md

pages: $(VENV)/.installed-dev  ## build the pages of the gallery and the pictures of the documentation anew
	$(BIN)/python docs/gallery.py
	$(BIN)/python docs/images/make.py
	PYTHONPATH=. $(BIN)/python docs/images/live.py

docs: $(VENV)/.installed-docs  ## build the documentation as a site, in docs/_build
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build
	@echo "Open docs/_build/index.html"

clean:  ## remove the environment and caches
	rm -rf $(VENV) docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks

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

$(VENV)/.installed-docs: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[dev,bench]"
	@touch $@ $(VENV)/.installed
