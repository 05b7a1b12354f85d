# One word a task; `make` alone lists them. All that it installs is in .venv, all that it builds in
# build, and `make clean` removes both.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

comma := ,

# What is installed. A file that goes away changes only the list, so the list is a source as well.
# What `make web` builds is no source: that task puts it into the installed package itself.
BUILT_WEB := mmpcodec/web/mmp.wasm mmpcodec/web/decoder.js
SOURCES := $(filter-out $(BUILT_WEB),$(sort $(shell find mmpcodec kernels docs/man -type f -not -name '*.pyc')))
SOURCES += CMakeLists.txt pyproject.toml
SOURCE_LIST := $(VENV)/sources

PACKAGE := $(VENV)/package-installed
TEST := $(VENV)/test-installed
MINIMUM := $(VENV)/minimum-installed
LINT := $(VENV)/lint-installed
FUZZ := $(VENV)/fuzz-installed
BROWSER := $(VENV)/browser-installed
BENCH := $(VENV)/bench-installed
WEB := $(VENV)/web-installed
WHEEL := $(VENV)/wheel-installed
DOCS := $(VENV)/docs-installed

# The tasks share one environment and pytest starts its own workers, so -j must not mix them.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

.PHONY: help
help: ## List the tasks
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' Makefile | while IFS='|' read -r task text; do \
		printf '  make %-10s %s\n' "$$task" "$$text"; done

.PHONY: demo
demo: $(PACKAGE) ## Encode and decode a picture; the results are in demo/
	$(BIN)/python scripts/demo.py

.PHONY: test
test: $(TEST) ## Run the tests and the examples in the docstrings
	$(BIN)/pytest -n auto -m "not slow"

.PHONY: check
check: lint $(TEST) ## Find most faults in 3 minutes: lint, every preset, conformance vectors, agreement
	@echo "== tests/test_tiny.py (every preset), tests/conformance (vectors), tests/agreement/test_table.py (backends)"
	$(BIN)/pytest -n auto -m "not slow" tests/test_tiny.py tests/conformance tests/agreement/test_table.py

.PHONY: test-long
test-long: $(TEST) $(WHEEL) ## Run the tests that take minutes
	$(BIN)/pytest -m slow

.PHONY: test-minimum
test-minimum: $(MINIMUM) ## Run the tests with the lowest versions of packages that pyproject.toml allows
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/minimum
	$(BIN)/uv pip install --quiet --python build/minimum --resolution lowest-direct '.[test]'
	build/minimum/bin/pytest -n auto -m "not slow"

PYTHONS ?= 3.11 3.12 3.13 3.14

.PHONY: test-pythons
test-pythons: $(MINIMUM) ## Run the tests with each Python of PYTHONS; uv fetches those that are missing
	set -e; for version in $(PYTHONS); do \
		$(BIN)/uv venv --quiet --clear --python $$version build/python-$$version; \
		$(BIN)/uv pip install --quiet --python build/python-$$version '.[test]'; \
		build/python-$$version/bin/pytest -n auto -m "not slow"; done

.PHONY: test-gpu
test-gpu: $(TEST) ## Run the tests that need a CUDA device, or say why not
	$(BIN)/pytest -m gpu -n 0

.PHONY: test-browser
test-browser: $(TEST) $(BROWSER) web ## Click through report and viewer in Chromium, or say what is missing
	$(BIN)/python scripts/web/browser_needs.py
	$(BIN)/pytest -m browser -n 0

.PHONY: web
web: $(WEB) ## Build the decoder for browsers and Node, which mmp view and mmp page need
	$(BIN)/python scripts/web/build.py
	$(BIN)/python scripts/web/script.py
	cp $(BUILT_WEB) "$$($(BIN)/python -P -c \
		'from importlib.resources import files; print(files("mmpcodec") / "web")')"

.PHONY: test-web
test-web: $(TEST) web ## Test this decoder in Node and Chromium, or say why not
	$(BIN)/pytest tests/web

.PHONY: lint
lint: $(LINT) ## Check style, types, spelling and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/python scripts/check/layers.py

.PHONY: docs
docs: $(DOCS) ## Build the pages and the API reference; the result is in build/docs
	$(BIN)/sphinx-build -q -W --keep-going docs build/docs

.PHONY: man
man: $(PACKAGE) ## Write the manual pages from the help of the commands
	$(BIN)/python scripts/man.py

.PHONY: format
format: $(LINT) ## Bring the Python files into their common format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: sanitize
sanitize: $(TEST) ## Test the C++ code under the address, undefined-behaviour and thread sanitizers
	scripts/check/sanitize.sh address $(BIN)/python
	scripts/check/sanitize.sh thread $(BIN)/python

FUZZ_SECONDS ?= 60
FUZZ_SEED ?= 1

.PHONY: fuzz
fuzz: $(FUZZ) ## Feed broken input to readers, decoders and encoders, each entry for FUZZ_SECONDS
	@mkdir -p build/fuzz/corpus build/fuzz/seeds
	@for stream in tests/conformance/*/stream.mmp; do \
		cp $$stream build/fuzz/seeds/$$(basename $$(dirname $$stream)).mmp; done
	PYTHONPATH=scripts/vectors $(BIN)/python scripts/fuzz/decoder.py -max_total_time=$(FUZZ_SECONDS) -timeout=20 -max_len=4000 \
		-artifact_prefix=build/fuzz/ build/fuzz/corpus build/fuzz/seeds
	$(BIN)/python scripts/fuzz/pictures.py --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)
	$(BIN)/python scripts/fuzz/coding.py --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)
	$(BIN)/python scripts/fuzz/seeds.py build/fuzz-native/seeds
	scripts/fuzz/native.sh $(FUZZ_SECONDS) $(FUZZ_SEED)

.PHONY: train
train: $(PACKAGE) ## Train the tables of the format on PICTURES, and build the package with them
	$(BIN)/python -W ignore scripts/train/trained_transforms.py --side 384 $(PICTURES)
	$(MAKE) --no-print-directory $(PACKAGE)
	$(BIN)/python -W ignore scripts/train/initial_states.py $(PICTURES)
	$(MAKE) --no-print-directory $(PACKAGE)
	$(BIN)/python -W ignore scripts/train/initial_states.py --trained $(PICTURES)
	$(MAKE) --no-print-directory $(PACKAGE)
	$(BIN)/python -W ignore scripts/train/fixed_filters.py $(PICTURES)
	$(MAKE) --no-print-directory $(PACKAGE)

.PHONY: bench
bench: $(PACKAGE) ## Measure speed and compression on this machine
	$(BIN)/python scripts/bench/codec/speed.py images/camera.pgm images/page.pgm

PICTURE ?= images/camera.pgm
WORK ?= decode

.PHONY: profile
profile: $(PACKAGE) ## Print where the time goes when PICTURE is decoded, or with WORK=encode encoded
	mkdir -p build/profile/site
	$(PIP) install --no-deps --upgrade --target build/profile/site --config-settings=install.strip=false \
		--config-settings=cmake.define.MMP_SYMBOLS=ON --config-settings=build-dir=build/profile/cmake .
	PYTHONPATH=build/profile/site $(BIN)/python -P scripts/bench/codec/stages.py $(WORK) $(PICTURE)

.PHONY: bench-pages
bench-pages: $(BENCH) ## Write the tables and the drawing of docs/benchmarks from docs/benchmarks/data
	$(BIN)/python scripts/bench/pages.py
	$(BIN)/python scripts/bench/frontier.py

.PHONY: paper
paper: $(BENCH) ## Repeat the dissertation's experiment on PICTURE; the results are in build/paper
	$(BIN)/python scripts/bench/codec/paper_experiment.py $(PICTURE) --out build/paper

.PHONY: sdist
sdist: $(WHEEL) ## Pack the sources, from which pip builds; the result is in dist/
	$(BIN)/pyproject-build --sdist --outdir dist .

# The tag of the wheel names the oldest glibc that it runs on: that of this machine's compiler.
.PHONY: wheel
wheel: $(WHEEL) ## Build a wheel that installs without a compiler; the result is in dist/
	@rm -rf build/wheel
	$(BIN)/pyproject-build --wheel --outdir build/wheel .
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/wheel/*.whl

.PHONY: clean
clean: ## Remove all that these tasks made
	rm -rf $(VENV) build demo dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find mmpcodec scripts tests -name __pycache__ -prune -exec rm -rf {} +

# The stamps below are made last, so an interrupted step is done again.

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "mmpcodec needs Python 3.11 or newer, and $(PYTHON) is not: $$($(PYTHON) --version 2>&1)." >&2; \
		echo "Name another one, for example: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

.PHONY: FORCE
ifneq ($(SOURCES),$(shell cat $(SOURCE_LIST) 2>/dev/null))
$(SOURCE_LIST): FORCE
endif
$(SOURCE_LIST): | $(VENV)/created
	@echo $(SOURCES) >$@

$(PACKAGE): $(SOURCE_LIST) $(SOURCES)
	@echo "Building mmpcodec and installing it into $(VENV): this takes a minute or two."
	$(PIP) install '.[measure]'
	@touch $@

# The package is there already: naming its extra installs only what the extra asks for. The tests
# compile the CUDA kernels, with NVRTC where there is no nvcc.
$(TEST): WITH := $(if $(shell command -v nvcc),,$(comma)nvrtc)
$(TEST) $(MINIMUM) $(LINT) $(FUZZ) $(BROWSER) $(BENCH) $(WEB) $(WHEEL) $(DOCS): $(VENV)/%-installed: pyproject.toml | $(PACKAGE)
	$(PIP) install 'mmpcodec[$*$(WITH)]'
	@touch $@
