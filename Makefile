# `make fuzz` and `make test` install everything themselves. They need Python >= 3.11, make and a C compiler.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SECONDS ?= 120
TOOLCHAINS ?= relay 0.25.0.post1
TESTS ?= tests
# the parts of tests/run_parts.py. RECORD=FOLDER keeps what they say; MINUTES=N ends them after that time
PARTS = exhaustive tvm long pages programs browser toolchains
RUN = $(BIN)/python tests/run_parts.py $(if $(RECORD),--record $(RECORD)) $(if $(MINUTES),--minutes $(MINUTES))

.PHONY: help fuzz install docs test test-all quick coverage lint toolchains clean $(PARTS:%=test-%)
.DEFAULT_GOAL := help

help:
	@echo "make fuzz              install into $(VENV), then fuzz for $(SECONDS) s"
	@echo "make test              install, check style and types, run the tests whose result depends on the commit alone"
	@echo "make test-all          all tests: more than an hour on two cores. A part alone:"
	@echo "                       $(PARTS:%=make test-%)"
	@echo "make quick             install, run the tests that start no compiler and are not slow"
	@echo "make coverage          install, run $(TESTS), print how many lines they reach; all tests take 25 CPU minutes"
	@echo "make docs              install, write what documents and golden files quote of the project itself; NAMES=... some"
	@echo "make clean             remove $(VENV) and caches"

# torch first, in the pinned version: a version range may download several GB of CUDA packages
define install
	@echo "1. installing PyTorch, TVM, onnxruntime and more of constraints.txt into $(VENV): some minutes, once"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --no-compile --disable-pip-version-check -c constraints.txt $$(grep '^torch==' constraints.txt)
	$(BIN)/pip install --no-compile --disable-pip-version-check -c constraints.txt -e '$(1)'
	@$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true # pip compiles one file after the other; some are no Python 3
endef

# what a run needs; `installed` has Ray and the tools of the tests too
$(VENV)/run: pyproject.toml constraints.txt
	$(call install,.)
	touch $@

$(VENV)/installed: pyproject.toml constraints.txt
	$(call install,.[test])
	touch $(VENV)/run $@

install: $(VENV)/installed

# without these packages, lanes for OpenCL and WebGPU are only compiled; the drivers come from the system
$(VENV)/gpu-on-cpu: $(VENV)/run
	@echo "2. installing drivers that run kernels for OpenCL and WebGPU on this processor"
	-$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[gpu-on-cpu]'
	-@$(BIN)/fuzz lanes | grep -o 'there is no .* on this processor.*' | sort -u
	touch $@

fuzz: $(VENV)/gpu-on-cpu
	@echo "3. starting the compilers (some ten seconds), fuzzing for $(SECONDS) s, then triage for up to 60 s; ctrl-C ends it"
	$(BIN)/fuzz run --seconds $(SECONDS)

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini

quick: $(VENV)/installed
	$(BIN)/pytest -n auto --dist worksteal --part gate -m "not slow and not tvm and not exhaustive"

# NAMES are those of the markers in the documents; without them, all texts are written. Files that were renamed since
# the commit SINCE, the last one by default, get their new names in the documents
docs: $(VENV)/installed
	@PYTHONPATH=.:tests:tests/generators:tests/fuzzer/watching:benchmarks $(BIN)/python tests/written/make_docs.py $(NAMES) $(if $(SINCE),--since $(SINCE))

test: $(VENV)/installed
	@$(RUN) style types gate

test-all: $(VENV)/installed
	@$(RUN) --go-on style types gate $(PARTS)

$(PARTS:%=test-%): test-%: $(VENV)/installed
	@$(RUN) $*

# toolchains stay in the user's cache: 3 GB, and a minute for each the first time
toolchains: $(VENV)/installed
	for name in $(TOOLCHAINS); do \
		$(BIN)/fuzz toolchain list | grep -q "^$$name:" || $(BIN)/fuzz toolchain add $$name || exit; \
	done

# a test that fails does not hide the report; `make` fails after it. Children inherit listed variables only: without
# the one that is named here, their interpreters are not measured
coverage: $(VENV)/installed
	rm -rf .coverage-data
	mkdir .coverage-data
	DIFFTVM_CHILD_ENVIRONMENT=COVERAGE_PROCESS_CONFIG DIFFTVM_CHILD_WRITES=$(CURDIR)/.coverage-data \
		$(BIN)/coverage run -m pytest -n auto --dist worksteal $(TESTS); status=$$?; \
	$(BIN)/coverage combine --quiet && $(BIN)/coverage report --skip-covered; \
	echo "package      lines  missed reached"; \
	for package in fuzzer generators oracles; do \
		$(BIN)/coverage report --include="$$package/*" | awk -v package=$$package \
			'/^TOTAL/ { printf "%-10s %7d %7d %7s\n", package, $$2, $$3, $$4 }'; \
	done; \
	exit $$status

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .coverage-data
