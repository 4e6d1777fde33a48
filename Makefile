# Set-up happens once, in .venv, and again only when a lock file or pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
EXAMPLES := examples/extraction
FIELDS := examples/fields
CLAIMS := examples/judged
SECONDS := 60
JUDGE := $(BIN)/goldgate extraction --brief --gold $(EXAMPLES)/gold.jsonl --schema $(EXAMPLES)/schema.json

.PHONY: help demo test test-all test-local test-browser test-inspect test-tools test-cluster test-remote check docs chaos bench fuzz dist lock clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/' | expand -t 20

demo: $(VENV)/.core ## judge the two example models, an agent, a reader of invoices and labelled claims; the reports go to out/
	$(JUDGE) --predictions $(EXAMPLES)/model-a.jsonl --protocol $(EXAMPLES)/protocol-pass.yaml --out out/model-a
	@echo
	@echo "$(JUDGE) --predictions $(EXAMPLES)/model-b.jsonl --protocol $(EXAMPLES)/protocol-fail.yaml --out out/model-b"
	@$(JUDGE) --predictions $(EXAMPLES)/model-b.jsonl --protocol $(EXAMPLES)/protocol-fail.yaml --out out/model-b; \
	  status=$$?; echo; test $$status -eq 1 \
	  && echo "Model B failed its gates: exit status 1, as it should. Why? Open out/model-b/report.html."
	@echo
	$(BIN)/goldgate research --brief --golden eval/golden_queries.json --outputs examples/research/passing --out out/research
	@echo
	$(BIN)/goldgate fields --brief --gold $(FIELDS)/gold.jsonl --schema $(FIELDS)/schema.json --predictions $(FIELDS)/model-a.jsonl \
	  --protocol $(FIELDS)/protocol.yaml --out out/invoices
	@echo
	$(BIN)/goldgate judged --brief --labels $(CLAIMS)/people.jsonl $(CLAIMS)/judge.jsonl --items $(CLAIMS)/items.jsonl \
	  --draw $(CLAIMS)/drawn.jsonl --protocol $(CLAIMS)/protocol.yaml --out out/claims
	@echo
	@echo "Every number is in out/: open out/model-a/report.html, or run a command above without --brief."

# These folders need more than the locked requirements, or disturb what runs beside them: each has a target of its own.
APART := local chaos browser with_inspect with_tools cluster remote
# Tests start hundreds of processes: where PYTHONDONTWRITEBYTECODE is set, each would compile all modules anew. A third
# worker has something to do for two cores while the others wait for a server, a signal or a process.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 3 --dist worksteal $(APART:%=--ignore=tests/%)

test: $(VENV)/.dev ## run the tests of every rule, contract and door, without those marked slow (about 2 minutes on two cores)
	$(PYTEST) -m "not slow"
	@echo "Left out: tests marked slow, and those in" $(APART:%=tests/%)": make test-all runs everything"

test-all: $(VENV)/.dev ## run every test: also the slow ones, and those that need torch, a browser, inspect-ai, MLflow, Ray or fsspec
	$(PYTEST)
	$(MAKE) --no-print-directory chaos test-local test-browser test-inspect test-tools test-cluster test-remote

test-local: $(VENV)/.local ## install torch and transformers (1.2 GB), run the tests that need them
	$(BIN)/pytest tests/local

export CHROMIUM

# The browser is the system's chromium: it is installed where that is allowed, and without one this fails.
test-browser: $(VENV)/.browser ## open the pages in a real browser, also with hostile samples
	$(BIN)/python -m tests.browser.chromium
	$(BIN)/pytest tests/browser

test-inspect: $(VENV)/.inspect ## install inspect-ai, run the tests that need it
	$(BIN)/pytest -o filterwarnings=default tests/with_inspect  # warnings of packages that are not ours

test-tools: $(VENV)/.tools ## install notebooks, data frames, MLflow, wandb and pre-commit (600 MB), run the tests that need them
	$(BIN)/pytest -n 2 -o filterwarnings=default tests/with_tools  # warnings of packages that are not ours

# In a network and among processes of their own: nothing is reached from outside, and nothing stays behind.
test-cluster: $(VENV)/.ray $(VENV)/.remote ## install Ray (300 MB) and fsspec, run the tests on a cluster of two nodes on this machine
	$(BIN)/python -m tests.cluster

test-remote: $(VENV)/.remote ## install fsspec, s3fs and moto, run the tests of inputs by URL
	$(BIN)/pytest -n 2 -o filterwarnings=default tests/remote  # warnings of packages that are not ours

# Every test tries as often as ROUNDS says; SEED makes the same choices again, as far as processes allow.
ROUNDS ?= 1
chaos: $(VENV)/.dev ## end, starve and disturb runs at random moments: make chaos ROUNDS=50 SEED=7
	ROUNDS=$(ROUNDS) SEED=$(or $(SEED),1) $(BIN)/pytest -n 2 tests/chaos

check: $(VENV)/.dev ## lint, formatting, types, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs ## build the pages as a site into site/; a broken link or a page in no menu is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "The site is in site/; its search works when it is served: $(BIN)/python -m http.server --directory site"

bench: $(VENV)/.dev ## measure speed and memory, and how well broken answers are read
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/generation.py
	$(BIN)/python benchmarks/research.py
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/uncertainty.py
	$(BIN)/python benchmarks/comparison.py
	$(BIN)/python benchmarks/viewing.py
	$(BIN)/python benchmarks/rewards.py

fuzz: $(VENV)/.dev ## look for what breaks goldgate, for SECONDS=60 in all; it prints its seed (SEED=… for the same again)
	@$(MAKE) --no-print-directory $(VENV)/.fuzz || echo "atheris cannot be installed here, see above; going on without it"
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

# The build itself needs no network; installing does, as it does for a user.
dist: $(VENV)/.dist ## build wheel and sdist into dist/, check their metadata, try each in an empty environment
	rm -rf dist
	$(BIN)/hatchling build
	$(BIN)/twine check --strict dist/*
	$(BIN)/python -P scripts/try_dist.py

# Locks carry versions and hashes and name no package index: whoever installs chooses theirs.
lock: $(VENV)/.dev ## resolve requirements/*.in again into requirements/*.txt
	$(PIP) install pip-tools
	cd requirements && for name in core build api view dev fuzz browser docs dist; do \
	  CUSTOM_COMPILE_COMMAND="make lock" ../$(BIN)/pip-compile --quiet --upgrade --generate-hashes --strip-extras \
	    --allow-unsafe --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	    --output-file $$name.txt $$name.in || exit 1; \
	done
	cd requirements && CUSTOM_COMPILE_COMMAND="make lock" ../$(BIN)/pip-compile --quiet --upgrade --strip-extras --allow-unsafe \
	    --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file local.txt local.in \
	  && sed -i.old -E -e 's/^(torch==[0-9.]+)\+[a-z0-9]+/\1/' -e '/considered to be unsafe/d' local.txt && rm -f local.txt.old
	cd requirements && for name in inspect ray remote tools; do \
	  CUSTOM_COMPILE_COMMAND="make lock" ../$(BIN)/pip-compile --quiet --upgrade --strip-extras --allow-unsafe \
	    --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file $$name.txt $$name.in \
	  && sed -i.old -e '/considered to be unsafe/d' $$name.txt && rm -f $$name.txt.old || exit 1; \
	done
	@! grep -nE '://|file:' requirements/*.txt || { echo "a lock names a place to download from"; exit 1; }

clean: ## remove .venv, caches and reports
	rm -rf $(VENV) out dist build site fuzz .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "goldgate needs Python 3.11 or newer, and $(PYTHON) is: $$($(PYTHON) --version 2>&1)"; \
	  echo "Name another one, for example: make $(or $(MAKECMDGOALS),demo) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || { \
	  echo "$(PYTHON) cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@touch $@

# pip also gets the project's own folder without build isolation, so that nothing unlocked is fetched.
$(VENV)/.core: $(VENV)/.made requirements/core.txt requirements/build.txt pyproject.toml
	$(PIP) install --require-hashes -r requirements/core.txt -r requirements/build.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.api: $(VENV)/.core requirements/api.txt
	$(PIP) install --require-hashes -r requirements/api.txt
	@touch $@

$(VENV)/.view: $(VENV)/.core requirements/view.txt
	$(PIP) install --require-hashes -r requirements/view.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.api $(VENV)/.view requirements/dev.txt
	$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

# Versions without hashes: one version of torch has a build for each kind of processor, and all of them will do.
$(VENV)/.local: $(VENV)/.dev requirements/local.txt
	$(PIP) install -r requirements/local.txt
	@touch $@

$(VENV)/.inspect: $(VENV)/.dev requirements/inspect.txt
	$(PIP) install -r requirements/inspect.txt
	@touch $@

$(VENV)/.tools: $(VENV)/.dev requirements/tools.txt
	$(PIP) install -r requirements/tools.txt
	@touch $@

$(VENV)/.docs: $(VENV)/.core requirements/docs.txt
	$(PIP) install --require-hashes -r requirements/docs.txt
	@touch $@

$(VENV)/.dist: $(VENV)/.core requirements/dist.txt
	$(PIP) install --require-hashes -r requirements/dist.txt
	@touch $@

$(VENV)/.ray: $(VENV)/.dev requirements/ray.txt
	$(PIP) install -r requirements/ray.txt
	@touch $@

$(VENV)/.remote: $(VENV)/.dev requirements/remote.txt
	$(PIP) install -r requirements/remote.txt
	@touch $@

$(VENV)/.fuzz: $(VENV)/.dev requirements/fuzz.txt
	$(PIP) install --require-hashes -r requirements/fuzz.txt
	@touch $@

$(VENV)/.browser: $(VENV)/.dev requirements/browser.txt
	$(PIP) install --require-hashes -r requirements/browser.txt
	@touch $@
