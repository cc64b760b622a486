# `make` alone lists the targets. Each does its own set-up from a bare checkout.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# As many processes as cores, four at most: some tests start servers of their own.
PARALLEL := -n auto --maxprocesses 4 --dist worksteal
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test lint type shape docs bench fuzz soak matrix mutation signs smoke conformance measure clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/\1|\2/' | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

$(VENV)/.base: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "kvfence needs Python 3.11 or newer; '$(PYTHON)' is older or missing. Try: make PYTHON=python3.12 demo" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --only-binary ':all:' --no-binary kvfence -e '.[scan]'
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --only-binary ':all:' --no-binary kvfence -e '.[dev]'
	@touch $@

demo: $(VENV)/.base ## the incident from start to end on this machine
	$(BIN)/kvfence demo

test: $(VENV)/.dev lint type ## everything that must pass
	$(BIN)/python -m pytest $(PARALLEL)
	PYTHONOPTIMIZE=1 $(BIN)/python -m pytest -q $(PARALLEL) -W "ignore::pytest.PytestConfigWarning" tests/stateful

lint: $(VENV)/.dev ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: $(VENV)/.dev ## mypy, strict
	$(BIN)/mypy

shape: $(VENV)/.dev ## floors, cycles, sizes, names
	$(BIN)/python -m pytest -q tests/shape

docs: $(VENV)/.dev ## write what is generated in docs/
	$(BIN)/python docs/write.py

bench: $(VENV)/.dev ## what the fence costs, how fast a digest is, how fast a log is read, how exact a prompt is, what a probe notices
	$(BIN)/python benchmarks/digest.py
	$(BIN)/python benchmarks/fence_cost.py
	$(BIN)/python benchmarks/audit_throughput.py
	$(BIN)/python benchmarks/probe_power.py
	$(BIN)/python benchmarks/probe_noise.py
	$(BIN)/python benchmarks/probe_truth.py
	$(BIN)/python benchmarks/scan_secrets.py
	$(BIN)/python benchmarks/scan_truth.py
	$(BIN)/python benchmarks/scan_speed.py
	$(BIN)/python -m pip install --quiet --only-binary ':all:' tiktoken && $(BIN)/python benchmarks/token_counts.py

fuzz: $(VENV)/.dev ## every fuzzer with KVFENCE_FUZZ_CASES cases (1000000)
	$(BIN)/python -m pytest -q -m fuzz --timeout 0 tests/fuzz tests/end_to_end/test_scan_killed.py

soak: $(VENV)/.dev ## 200 clients for five minutes against the cell
	$(BIN)/python benchmarks/soak.py

matrix: $(VENV)/.dev ## every fault with every layer of the fence alone, stored for docs/fault-matrix.md
	$(BIN)/python benchmarks/fault_matrix.py
	$(BIN)/python docs/write.py

mutation: $(VENV)/.dev ## each guard of core gone or inverted, stored for docs/mutation.md
	$(BIN)/python benchmarks/core_mutants.py --write --again

signs: $(VENV)/.dev ## how often each sign of lost context is right, stored for scan and docs/scan-signs.md
	$(BIN)/python -m pip install --quiet --only-binary ':all:' tiktoken && $(BIN)/python benchmarks/scan_signs
	$(BIN)/python docs/write.py

smoke: $(VENV)/.dev ## the wheel alone in a fresh environment
	rm -rf $(VENV)-smoke && $(PYTHON) -m venv $(VENV)-smoke
	$(BIN)/python -m pip wheel --quiet --no-deps -w $(VENV)-smoke/wheel .
	$(VENV)-smoke/bin/python -m pip install --quiet --only-binary ':all:' $(VENV)-smoke/wheel/*.whl
	$(VENV)-smoke/bin/kvfence --help >/dev/null
	cd $(VENV)-smoke && bin/kvfence demo >/dev/null
	rm -rf $(VENV)-smoke

measure: $(VENV)/.dev ## our own tree in figures
	$(BIN)/python tests/support/measure.py

conformance: $(VENV)/.dev ## tests against real engines (tests/conformance/README.md says how to install them)
	$(BIN)/python -m pytest -q -rs -m conformance --timeout 0 tests/conformance

clean: ## forget the environment and the caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
