# Every target works from a fresh checkout: it makes .venv, installs what it needs once, then runs.
#   make test PYTHON=python3.12          another interpreter (3.11 to 3.13)
#   make test PYTEST_ARGS="-k layer -x"  options for pytest
#   make test JOBS=4                     test processes

PYTHON ?= python3
JOBS ?= 2
PYTEST_ARGS ?=

VENV := .venv
PY := $(VENV)/bin/python
PIP_INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt

# One stamp per kind of installation, so that `make demo` does not wait for the development tools.
MADE := $(VENV)/.made
CORE := $(VENV)/.core
DEV := $(VENV)/.dev
PAPER := $(VENV)/.paper
DOCS := $(VENV)/.docs
RAY := $(VENV)/.ray

# One thread per process: many small tensors, and comparable timings.
ONE_THREAD := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# What Python compiles is kept, whatever the shell says: the tests import the same files in many processes.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test bench dist html docs numbers paper paper-more lint format clean distclean
.DELETE_ON_ERROR:

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(CORE) ## the main job on embedded data
	$(VENV)/bin/gramme demo --out build/demo
	@echo 'On a page, with your own files: $(VENV)/bin/pip install -e ".[app]" && $(VENV)/bin/gramme app'

test: lint ## lint, types, tests and doctests
	$(ONE_THREAD) $(PY) -m pytest -n $(JOBS) --dist worksteal $(PYTEST_ARGS)

bench: $(DEV) ## speed and memory against peers, one script after the other
	@set -e; found=no; \
	for script in benchmarks/speed/*.py; do \
	  case "$$script" in */measure.py|*/distributed_cost.py) continue;; esac; \
	  found=yes; echo "== $$script"; \
	  $(ONE_THREAD) $(PY) "$$script"; \
	done; \
	[ "$$found" = yes ] || { echo "There is no benchmarks/speed/*.py to run." >&2; exit 1; }

html: $(DOCS) ## the documentation into build/docs; a warning is an error
	$(PY) -m sphinx --builder html --fail-on-warning --keep-going --nitpicky --quiet docs build/docs

docs: html ## the documentation, and a run of everything its pages show
	$(ONE_THREAD) $(PY) -m pytest tests/test_docs.py
	@echo "Open build/docs/index.html"

dist: $(DEV) ## a wheel and an sdist in dist/, checked and installed into an empty environment
	rm -rf dist
	$(PY) -m build --no-isolation --outdir dist .
	$(PY) -m twine check --strict dist/*
	GRAMME_DIST=dist $(ONE_THREAD) $(PY) -m pytest -m "slow or not slow" tests/test_packaging.py

# Every step keeps what it has finished (build/paper, docs/reproduction): run again, it goes on from there.
paper: $(PAPER) ## the paper's table and figures, some three hours on two cores
	@for step in "table.py --jobs $(JOBS)" "cora.py --jobs $(JOBS)" \
	  training.py "ablations.py --jobs $(JOBS)" scaling.py; do \
	  echo "== benchmarks/paper/$$step"; \
	  $(ONE_THREAD) $(PY) benchmarks/paper/$$step || exit 1; \
	done

paper-more: $(PAPER) ## gramme-auto and the remaining methods, hours: some need explicit edges
	$(ONE_THREAD) $(PY) benchmarks/paper/table.py --more --jobs $(JOBS)

numbers: $(DEV) ## tables and numbers of README and docs, made anew from their CSV files
	$(PY) benchmarks/numbers_of_pages.py

lint: $(DEV) ## ruff and mypy, changing nothing
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(DEV) ## let ruff repair and format the code
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

clean: ## remove caches and build products (results and .venv stay)
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name paper -exec rm -rf {} +
	rm -rf dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path ./$(VENV) -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

distclean: clean ## clean, and remove .venv too
	rm -rf $(VENV)

$(MADE):
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "No '$(PYTHON)' found. Install Python 3.11, 3.12 or 3.13, or name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || { \
	  echo "gramme needs Python 3.11, 3.12 or 3.13, but '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1). Name another: make PYTHON=python3.11" >&2; exit 1; }
	@"$(PYTHON)" -m venv --clear $(VENV) || { \
	  echo "'$(PYTHON)' could not make a virtual environment; on Debian and Ubuntu install the package python3-venv." >&2; exit 1; }
	@touch $@

$(CORE): $(MADE) pyproject.toml constraints.txt
	@echo "Installing gramme into $(VENV) (the first time takes a few minutes)"
	@$(PIP_INSTALL) -e .
	@touch $@

$(DEV): $(CORE) pyproject.toml constraints.txt
	@echo "Installing the development tools into $(VENV)"
	@$(PIP_INSTALL) -e '.[dev]'
	@touch $@

$(DOCS): $(DEV) pyproject.toml constraints.txt
	@echo "Installing what builds the documentation into $(VENV)"
	@$(PIP_INSTALL) -e '.[docs]'
	@touch $@

$(RAY): $(DEV) pyproject.toml constraints.txt
	@echo "Installing Ray into $(VENV)"
	@$(PIP_INSTALL) -e '.[ray]'
	@touch $@

$(PAPER): $(CORE) pyproject.toml constraints.txt
	@echo "Installing what the paper's baselines need into $(VENV)"
	@$(PIP_INSTALL) -e '.[walks,pyg]'
	@touch $@
