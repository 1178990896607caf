# Two commands are all a fresh machine needs: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_WORKERS ?= auto

.DEFAULT_GOAL := help
.PHONY: help demo test lint types pytest soak format clean

help: ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

# The stamp is newer than pyproject.toml exactly when the environment holds what pyproject.toml asks for.
$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "litany needs Python 3.11 or newer; $(PYTHON) is older. Set PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group test --group typing --group lint
	@touch $@

demo: $(VENV)/.installed ## run the main job on a real example and show its record
	@$(BIN)/python examples/demo.py

lint: $(VENV)/.installed ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed ## mypy --strict
	$(BIN)/mypy --strict

pytest: $(VENV)/.installed ## the tests, in parallel
	$(BIN)/pytest -n $(PYTEST_WORKERS)

test: lint types pytest ## all checks and tests

soak: $(VENV)/.installed ## kill 200 busy hosts, run 10,000 programs, fuzz C types with 20,000: about an hour
	$(BIN)/python tests/soak/soak.py --programs 10000
	$(BIN)/python tests/soak/kill_test.py --kills 200
	$(BIN)/python tests/soak/fuzz.py --programs 20000

format: $(VENV)/.installed ## apply ruff's fixes and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove what the other targets made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
