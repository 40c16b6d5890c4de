# The commands of PROBE. `make demo` and `make test` are all that a fresh machine needs: both make .venv first.
# All paths are relative to this folder, so that its name may hold spaces.

.PHONY: help setup demo test lint docs bench lock clean

BIN := .venv/bin
CHECKED := Snakefile rules

# Files of tests side by side, a process a core; PYTEST_ARGS=tests/git runs some of them in one.
PYTEST_ARGS ?= --numprocesses auto --dist loadfile

# A PYTHONPATH of yours must not shadow the packages of .venv.
unexport PYTHONPATH PYTHONHOME

help: ## list the commands (also: plain `make`)
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-6s %s\n", $$1, $$2}' Makefile

setup: ## make .venv from envs/requirements.lock, or reuse it
	@sh envs/setup.sh

demo: setup ## build the bundled repository's cells and show them
	@$(BIN)/snakemake --configfile config/demo.yaml
	@$(BIN)/probe cells results/metrics.csv

# The last line is pytest's own. Caches stay inside the checkout.
test: ## everything that CI runs; with CI=true missing engines are installed first
	@if [ "$$CI" = true ]; then sh .ci/engines; fi
	@$(MAKE) --no-print-directory lint
	@XDG_CACHE_HOME="$(CURDIR)/.cache" $(BIN)/pytest $(PYTEST_ARGS)

lint: setup ## formatting, types, rule files and the direction of imports
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/snakefmt --check $(CHECKED)
	@$(BIN)/lint-imports

docs: setup ## rewrite docs/config.md and docs/schemas/ from probe.config
	@$(BIN)/probe docs

bench: setup ## run the benchmarks (minutes)
	@for script in benchmarks/*.py; do echo "== $$script" && $(BIN)/python "$$script" || exit 1; done

# Extras stay in the lock: without them pip takes `httpx[http2]` for a package that is not pinned.
lock: setup ## resolve pyproject.toml's dependencies again (network); then run `make test`
	@$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --all-extras --no-strip-extras --upgrade \
		pyproject.toml --output-file envs/requirements.lock

clean: ## remove .venv and caches; results/ stays, since parts of it may have been paid for
	@rm -rf .venv .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find scripts tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo "results/ and .snakemake/ are kept; remove them by hand if you mean it"
