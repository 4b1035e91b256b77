# On a machine with Python 3.11+ and pip: `make demo` and `make test` do all their own set-up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEEP := $(VENV)/.deep

.PHONY: demo test test-all test-docs bench applications leaderboard peers planners certificates mechanics environments pictures paper mutations mutants lowest lint docs browser deep dist release-check clean setup constraints

demo: setup
	$(BIN)/equipoise run studies/quick.toml --out out/quick
	$(BIN)/equipoise report out/quick

test: setup
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not docs"

# And the long ones: statistics over thousands of runs, programs killed at random moments.
test-all: test
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow

# The documentation, and what its pages, the README and the docstrings say: programs, numbers, names.
test-docs: docs
	EQUIPOISE_SITE=$(CURDIR)/site $(BIN)/python -m pytest -n auto --dist worksteal -m "docs and not slow"

bench: setup
	$(BIN)/python -m benchmarks

applications: setup
	for name in kpis fairness coverage budgets; do \
	  $(BIN)/equipoise run studies/$$name.toml --out out/$$name && $(BIN)/equipoise report out/$$name || exit 1; done
	for season in 10000 100000; do \
	  $(BIN)/equipoise run studies/budgets.toml --steps $$season --out out/budgets-$$season && \
	  $(BIN)/equipoise report out/budgets-$$season || exit 1; done
	$(BIN)/python -m benchmarks.applications out

leaderboard: setup
	$(BIN)/equipoise run studies/leaderboard.toml --out out/leaderboard
	$(BIN)/equipoise report out/leaderboard
	$(BIN)/python -m benchmarks.leaderboard out/leaderboard out/peers.json docs/leaderboard.md

# Scalar learners of another package, in an environment of their own; `make leaderboard` shows them if they have run.
peers: setup
	$(BIN)/python -m benchmarks.peers

# Planners of other packages beside `solve`, in an environment of their own; writes a table of docs/performance.md.
planners: setup
	$(BIN)/python -m benchmarks.peers.planners

# How tight certificates are and what they cost; writes docs/certificates.md in some minutes.
certificates: setup
	$(BIN)/python -m benchmarks.certificates --long --seeds 2

# What it is worth to tell an agent the mechanics of its system; writes docs/mechanics.md in some twenty minutes.
mechanics: setup
	$(BIN)/python -m benchmarks.mechanics

# The certified optima of MO-Gymnasium's finite environments; writes their table in docs/gymnasium.md in some ten minutes.
environments: setup
	$(BIN)/python -m benchmarks.environments

# Regret and violations with constraints; writes docs/constraints.md in some ten minutes.
constraints: setup
	$(BIN)/python -m benchmarks.constraints

# The pictures of the examples, as docs/examples.md shows them; that of the learners takes some minutes and `make deep`.
pictures: setup
	for name in kpis fairness patrol budgets department log star; do \
	  $(BIN)/python examples/$$name.py --out docs/images || exit 1; done
	$(BIN)/python examples/scalar_learners.py --out out && cp out/scalar_learners.png docs/images/learners.png

paper: setup
	$(BIN)/python -m paper --out out/paper.html --markdown docs/checks.md

# The package broken in every way that tests/mutations lists, against the quick checks of the paper: hours.
mutations: setup
	$(BIN)/python -m tests.mutations --markdown docs/checks.md

# Small changes of the sources, drawn per module, against the tests of what they change; writes a table of docs/mutants.md.
# Two of each module take hours; `.venv/bin/python -m tests.mutants --help` says how to try fewer.
mutants: setup
	$(BIN)/python -m tests.mutants --per-module 2 --markdown docs/mutants.md

# The lowest versions that pyproject.toml allows, in an environment and with kernels of their own: the demo and a part of
# the quick tests.
LOWEST := out/lowest
LOWEST_TESTS := tests/offline/test_frontier.py tests/offline/test_columns.py \
  tests/models/test_log.py tests/models/test_travel_times.py tests/rewards/expression tests/reports/charts \
  tests/cli/test_help.py tests/cli/test_doctor.py

lowest:
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-lowest.txt \
	  -e ".[cluster,mo-gymnasium]" hypothesis pandas pytest pytest-xdist pyyaml
	$(LOWEST)/bin/equipoise --help > $(LOWEST)/help.txt
	export EQUIPOISE_CACHE_DIR=$(CURDIR)/$(LOWEST)/kernels && \
	  $(LOWEST)/bin/equipoise run studies/quick.toml --out $(LOWEST)/quick && \
	  $(LOWEST)/bin/equipoise report $(LOWEST)/quick && \
	  $(LOWEST)/bin/python -m pytest -n auto --dist worksteal -m "not slow" $(LOWEST_TESTS)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/python -m docs._sphinx.validation

# What would be published: built, looked into, installed into an empty environment and tried there.
dist: setup
	$(BIN)/python -m tests.distribution

# The same, and what RELEASING.md asks of a release that a program can see.
release-check: setup
	$(BIN)/python -m tests.distribution --release

# Into site/; any warning is an error. The pages that Sphinx makes of the docstrings are made anew.
docs: setup
	rm -rf docs/api/generated site
	$(BIN)/sphinx-build --fail-on-warning --keep-going --fresh-env --quiet -d out/doctrees docs site

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or later is needed"'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $(READY)

# For the tests of the report's page in a real browser, which are skipped without one.
browser:
	command -v chromium || command -v google-chrome || \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; }

# Stable-Baselines3 and PyTorch, for DQN and PPO in examples/scalar_learners.py and for tests that are skipped without.
deep: $(DEEP)

$(DEEP): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[deep]"
	touch $(DEEP)

clean:
	rm -rf $(VENV) out site dist docs/api/generated
