# Every target does its own set-up: on a fresh machine with Python 3.11+, git and make, `make demo`
# and `make test` are all it takes. Nothing outside this folder is written but the cache of built tools.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -I -m pip install --quiet --disable-pip-version-check
# The stamp names the Python it was asked for, so that `make test PYTHON=python3.13` makes .venv anew.
STAMP := $(VENV)/.made-with-$(subst /,_,$(PYTHON))
DOCS_STAMP := $(STAMP)-docs
TESTS ?=
TAGS ?=
# Three workers for two cores, because tests wait for others' processes and clocks. One that has nothing left takes
# tests of another one, whatever a long test holds up.
WORKERS := -n 3 --dist worksteal
# A test on the cluster that fails is played once more; both attempts are told (tests/e2e/conftest.py).
E2E := --reruns 1 --durations 20 --durations-min 10 $(if $(RECORD),--record-durations)
# The addresses of pods and services on the test cluster; each family has a cluster of its own.
ifdef FAMILY
export SPARKGEN_FAMILY := $(FAMILY)
endif
# The cluster's program needs nothing but Python: no .venv is made for it.
CLUSTER := PYTHONPATH=tools $(PYTHON) -m cluster

MAKEFLAGS += --no-builtin-rules --no-print-directory
# Where it is set, each of the thousand processes that the tests start would compile sparkgen anew.
unexport PYTHONDONTWRITEBYTECODE
.SUFFIXES:
.DEFAULT_GOAL := help
.PHONY: help venv wheel docs docs-serve demo test soak replay soak-chart lint format bench bench-cluster bench-executors bench-scale bench-shuffle bench-sessions bench-quota bench-locality bench-protection bench-delivery whatif-proof bench-plots \
        release golden tools \
        scheduler requirements clean \
        cluster-requirements cluster-up cluster-down cluster-status cluster-images cluster-argocd cluster-shell e2e e2e-full

help: ## Show this list
	@echo "make TARGET, where TARGET is one of:"
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## \(.*\)/  \1#\2/p' $(MAKEFILE_LIST) | awk -F'#' '{ printf "%-21s %s\n", $$1, $$2 }'
	@echo "PYTHON=... selects the Python (3.11 or newer) for .venv; SPARKGEN_CACHE=... is the folder for built tools."

venv: $(STAMP) ## Create .venv (again only after pyproject.toml has changed)

$(STAMP): pyproject.toml requirements/dev.txt
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "error: there is no $(PYTHON). Install Python 3.11 or newer, or name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@"$(PYTHON)" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: $(PYTHON) is $$("$(PYTHON)" -V 2>&1), but sparkgen needs Python 3.11 or newer." \
	  "Name a newer one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "making $(VENV) with $$("$(PYTHON)" -V) (once; half a minute) ..." >&2
	@"$(PYTHON)" -I -m venv --clear $(VENV)
	@$(PIP) --require-hashes --requirement requirements/dev.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

wheel: $(STAMP) ## Build the wheel and install it into .venv in place of the checkout, so that tests use what users get
	@rm -rf build/wheel build/runtime && mkdir -p build
	@{ $(BIN)/python tools/spark/scheduler.py >/dev/null && $(BIN)/python -m sparkgen runtime -o build/runtime; } || \
	  echo "the wheel will not contain the runtime: sparkgen compiles it where it is first needed" >&2
	@runtime=$$(test ! -d build/runtime || echo "$(CURDIR)/build/runtime"); SPARKGEN_RUNTIME=$$runtime \
	  $(BIN)/python -I -m build --no-isolation --wheel --outdir build/wheel . >build/wheel.log 2>&1 || { cat build/wheel.log >&2; exit 1; }
	@$(PIP) --no-deps --force-reinstall build/wheel/*.whl
	@$(BIN)/python -I -c 'import sparkgen; print("installed:", sparkgen.__path__[0])'
	@echo "changes in the checkout have no effect until the next 'make wheel'; to use the checkout again: touch pyproject.toml && make venv" >&2

$(DOCS_STAMP): $(STAMP)
	@$(PIP) --no-build-isolation --editable '.[dev,docs]'
	@touch $@

docs: $(DOCS_STAMP) ## Build the documentation as a site in build/site, and check all of its links
	@$(BIN)/python tools/docs/site.py

docs-serve: $(DOCS_STAMP) ## Serve the site at http://127.0.0.1:8000, and rebuild it after every change
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve --dev-addr 127.0.0.1:8000

demo: $(STAMP) ## Validate and render every example into build/demo, and run one on this machine
	@$(BIN)/python tools/demo.py

test: lint tools ## Run all checks: lint, types, layers, and the tests (TESTS="path -k word": only some; SPARKGEN_SHARE=all: the long ones, too)
	@$(BIN)/pytest $(WORKERS) -rs --durations 15 --durations-min 2 $(TESTS)

soak: $(STAMP) tools ## Run every long test in full, then N schedules of the simulator, starting at SEED (N=100000 SEED=1)
	@SPARKGEN_SHARE=all $(BIN)/pytest $(WORKERS) -rs $(TESTS)
	@PYTHONPATH=tools $(BIN)/python -m simulator soak $(or $(N),100000) --seed $(or $(SEED),1) $(if $(SESSIONS),--sessions) $(if $(GANGS),--gangs) $(if $(FILES),--files) $(if $(MEMORY),--memory) $(if $(POOLS),--pools)

replay: $(STAMP) ## Print what happens in one schedule of the simulator (SEED=11; SHRINK=1 reduces it to what breaks an invariant; SESSIONS=1; GANGS=1; FILES=1; MEMORY=1; POOLS=1)
	@PYTHONPATH=tools $(BIN)/python -m simulator replay $(or $(SEED),1) $(if $(SHRINK),--shrink) $(if $(SESSIONS),--sessions) $(if $(GANGS),--gangs) $(if $(FILES),--files) $(if $(MEMORY),--memory) $(if $(POOLS),--pools)

e2e: $(STAMP) ## Run the end-to-end tests, and this commit's share of the slow ones, on the test cluster (FAMILY=ipv6 or dual: those of addresses) or on KUBECONFIG's
	@$(BIN)/pytest $(E2E) $(or $(TESTS),tests/e2e)

e2e-full: $(STAMP) ## Run all end-to-end tests (two hours; as root, on the test cluster); RECORD=1 records how long each takes
	@SPARKGEN_E2E_FULL=1 $(BIN)/pytest $(E2E) $(or $(TESTS),tests/e2e)

soak-chart: $(STAMP) tools ## Compare chart and generator with many generated documents (SOAK=5000)
	@SPARKGEN_SOAK=$(or $(SOAK),5000) $(BIN)/pytest tests/chart/test_parity.py -k "generated or contradict or grammar or spelling"

lint: $(STAMP) ## Check style, formatting, types and layers
	@status=0; \
	$(BIN)/ruff check --quiet . || status=1; \
	$(BIN)/ruff format --check . || { echo "error: run make format" >&2; status=1; }; \
	$(BIN)/mypy || status=1; \
	$(BIN)/lint-imports || status=1; \
	exit $$status

format: $(STAMP) ## Format the code, and fix what ruff can fix
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(STAMP) ## Compare the speed of sparkgen and helm on this machine
	@$(BIN)/python tools/bench helm

bench-cluster: $(STAMP) ## Compare sparkgen with Spark's own backend and the spark-operator on the test cluster (an hour)
	@status=0; for part in pi dynamic executors submissions sessions; do \
	  $(BIN)/python tools/bench $$part --write || status=1; \
	done; \
	$(BIN)/python tools/bench scale --write || status=1; \
	exit $$status

bench-executors: $(STAMP) ## Measure how fast sparkgen and Spark's own backend create executors (20 minutes)
	@$(BIN)/python tools/bench executors

bench-scale: $(STAMP) ## Measure what grows with the number of executors, without a cluster (5 minutes)
	@$(BIN)/python tools/bench scale

bench-shuffle: $(STAMP) ## Measure executor-seconds with and without a shuffle service, on the test cluster (20 minutes)
	@$(BIN)/python tools/bench shuffle

bench-sessions: $(STAMP) ## Measure how long a session's first result takes, on the test cluster (15 minutes)
	@$(BIN)/python tools/bench sessions

bench-quota: $(STAMP) ## Measure what a full quota costs, on the test cluster (10 minutes)
	@$(BIN)/python tools/bench quota

bench-locality: $(STAMP) ## Measure a scan of HDFS on the test cluster's nodes, with sparkgen and with Spark's own backend (20 minutes)
	@$(BIN)/python tools/bench locality

bench-protection: $(STAMP) ## Measure what it costs to sign or encrypt the traffic of HDFS, without a cluster (10 minutes)
	@$(BIN)/python tools/bench protection

whatif-proof: $(STAMP) ## Measure how accurate whatif's predictions are (MINUTES=120), and write docs/benchmarks/whatif.md
	@$(BIN)/python tools/bench whatif --write --minutes $(or $(MINUTES),120)

bench-delivery: $(STAMP) ## Measure how long a changed script takes until it runs: a push by sparkgen apply, an image build, Spark's upload; on the test cluster (10 minutes)
	@$(BIN)/python tools/bench delivery

bench-plots: $(STAMP) ## Draw the saved results of the benchmarks as charts in docs/benchmarks
	@$(BIN)/python tools/bench plots

release: $(STAMP) ## Build wheel, chart, runtime image, bills of materials, provenance and checksums in dist/; pushes nothing
	@PYTHONPATH=tools $(BIN)/python -m release dist/release $(if $(DIRTY),--dirty) $(if $(IMAGE),--image $(IMAGE))

golden: $(STAMP) tools ## Rewrite the expected outputs of the tests; read the diff before you commit it
	@$(BIN)/pytest $(WORKERS) --regenerate $(TESTS)
	@git status --short -- tests docs

tools: $(STAMP) ## Build what the tests need (helm, kubeconform, Kubernetes' schemas) into the cache
	@$(BIN)/python tools/gotools/gotools.py build
	@$(BIN)/python tools/k8s/kubernetes_schemas.py >/dev/null

scheduler: $(STAMP) ## Compile the scheduler jar for both Scala lines into the cache (needs Java 17 or 21)
	@$(BIN)/python tools/spark/scheduler.py

cluster-requirements: ## Install the Debian packages that the test cluster needs (as root)
	@$(CLUSTER) requirements

cluster-up: ## Start a real Kubernetes on this machine (as root; the first time builds it: 8 minutes; FAMILY=ipv6, FAMILY=dual)
	@$(CLUSTER) up

cluster-down: ## Stop the test cluster, and remove everything it created
	@$(CLUSTER) down

cluster-status: ## Print which parts of the test cluster run
	@$(CLUSTER) status

cluster-images: ## Load the Spark images of the end-to-end tests onto the cluster's nodes (TAGS="3.5.8-scala ..." for others)
	@$(CLUSTER) load $(TAGS)

cluster-argocd: ## Start an Argo CD that syncs Git repositories of this machine to the cluster (the first time builds it: 5 minutes)
	@$(CLUSTER) argocd

cluster-shell: ## Open a shell whose kubectl, helm and kustomize use the test cluster
	@$(CLUSTER) shell

requirements: ## Resolve the dependencies anew, and write their versions and hashes into requirements/
	@$(PYTHON) tools/requirements.py

clean: ## Remove what make created in this folder (the cache of built tools stays)
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .import_linter_cache .hypothesis .pytest_cache
	find sparkgen tools tests -type d -name __pycache__ -prune -exec rm -rf {} +
