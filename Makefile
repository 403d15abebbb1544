# Two commands do everything on a machine that has Python >= 3.11 and make: `make fuzz` and `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SECONDS ?= 120
TOOLCHAINS ?= relay 0.25.0.post1

.PHONY: fuzz test test-toolchains quick lint clean
.DEFAULT_GOAL := help

help:
	@echo "make fuzz    install into $(VENV), then fuzz for $(SECONDS) s"
	@echo "make test    install, lint, type-check, run all tests"
	@echo "make test-toolchains   install $(TOOLCHAINS), and run the tests that need them"
	@echo "make quick   the tests that start no compiler, less the slow and the exhaustive ones"

# torch first, at the very version: a range may fetch several GB of CUDA packages
$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt $$(grep '^torch==' constraints.txt)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	touch $@

fuzz: $(VENV)/installed
	$(BIN)/fuzz run --seconds $(SECONDS)

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini

quick: $(VENV)/installed
	$(BIN)/pytest -n auto --dist worksteal -m "not tvm and not exhaustive and not browser and not slow"

test: lint
	$(BIN)/pytest -n auto --dist worksteal

# into the user's cache, where they stay: 3 GB and a minute each, the first time
test-toolchains: $(VENV)/installed
	for name in $(TOOLCHAINS); do \
		$(BIN)/fuzz toolchain list | grep -q "^$$name:" || $(BIN)/fuzz toolchain add $$name || exit; \
	done
	$(BIN)/pytest -m toolchains

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
