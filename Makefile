# What one does here. Each target sets up .venv by itself, from requirements/dev.lock; only `make test`, and
# only as root, installs anything elsewhere. `make clean test PYTHON=python3.12` says which Python.

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-print-directory

BIN := .venv/bin
READY := .venv/.ready

.PHONY: help demo test check bench mutants lock clean

help:
	@echo 'make demo      plan a household; push to three hosts; build from git, until it is gone again'
	@echo 'make test      all tests                 (make test ARGS="tests/unit -k names")'
	@echo 'make check     style, types, who may import whom'
	@echo 'make bench     the resolver against two plain solvers'
	@echo 'make mutants   does a test notice when the resolver is broken? (long)'
	@echo 'make lock      write requirements/dev.lock anew (make lock ARGS=--upgrade)'
	@echo 'make clean     remove .venv and everything that was made'

$(READY): pyproject.toml requirements/dev.lock scripts/venv.sh
	@PYTHON='$(PYTHON)' sh scripts/venv.sh
	@touch $@

demo: $(READY)
	@$(BIN)/python examples/story/demo.py

# As root on Debian, what some tests need of the system is installed first, after saying so; where it can't be,
# those tests are skipped with one line that says so.
test: $(READY)
	@sh scripts/system_packages.sh
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

check: $(READY)
	@$(BIN)/ruff check --quiet . && echo 'ruff check: clean'
	@$(BIN)/ruff format --check --quiet . && echo 'ruff format: clean'
	@$(BIN)/mypy
	@said=$$($(BIN)/lint-imports --no-logo 2>&1) && echo 'lint-imports: all contracts kept' || \
		{ echo "$$said"; exit 1; }

bench: $(READY)
	@$(BIN)/python -m benchmarks $(ARGS)

mutants: $(READY)
	@$(BIN)/python scripts/mutants.py $(ARGS)

# The lock holds for every platform and every Python from 3.11 on. It names no index: whoever
# installs takes the files from wherever they like, the hashes say which ones are right.
lock:
	@command -v uv >/dev/null || { echo 'make lock needs uv, and it is not on PATH.' >&2; exit 1; }
	@env -u UV_INDEX -u UV_DEFAULT_INDEX -u UV_INDEX_URL -u UV_EXTRA_INDEX_URL -u UV_FIND_LINKS \
		uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
		--generate-hashes --no-config --quiet --custom-compile-command 'make lock' \
		--output-file requirements/dev.lock $(ARGS)

clean:
	@rm -rf .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache \
		build dist mutants
	@find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
