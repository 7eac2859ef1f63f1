# SPDX-License-Identifier: Apache-2.0
# make run     install into .venv and train the digits example
# make test    install with the test tools, lint, check types, run the tests
# make test-deep  all that, the tests that take minutes each, and make guarded
# make guarded the tests that run kernels, with guards around all memory that a kernel gets;
#              GUARDS=pages makes what lies outside of it inaccessible, which takes longer
# make format  the layout that make test asks for
# make warm    compile the library for this checkout, which programs that were run before it
#              otherwise leave to the background; make run does
# make wheel   a package in dist/, with the library's machine code for common processors (LEVELS)
# make bench   the benchmarks; PEERS=1 also installs what they compare with into .venv-peers
# make test-gpu   the tests that need a GPU, and those of all ops on it
# make bench-gpu  what a GPU does of what it could, into benchmarks/results/gpu/
# make clean   remove the virtual environments and caches
# TF=1 also installs TensorFlow into .venv-tf, which the comparison tests use; where no package
# of it exists for this Python the tests say so and are skipped.

CANDIDATES := python3 python3.13 python3.12 python3.11 python3.14
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach p,$(CANDIDATES),$(shell $(p) -c '$(NEW_ENOUGH)' 2>/dev/null && echo $(p))))
VENV ?= .venv
TF_VENV ?= .venv-tf
TF ?= 0
PEERS ?= 0
PEER_VENVS ?= .venv-peers
PEER_tf := "tensorflow-cpu>=2.16"
PEER_jax := jax
PEER_torch := torch numpy
PEER_pytensor := pytensor
BENCH_FLAGS ?=
MODEL_FLAGS ?=
PY := $(VENV)/bin/python
# cuda12 for drivers of CUDA 12.
CUDA ?= cuda
PIP_FLAGS := --disable-pip-version-check --quiet
PYTEST_FLAGS ?=
# Each kernel that a process holds is a mapping of memory, of which the system allows some ten
# thousands: the folders that compile the most have a process of their own.
COMPILING := tests/jit tests/ops
GUARDS ?= bytes
LEVELS ?= x86-64-v3 x86-64-v4 aarch64
WHEEL := build/wheel
# What decides on the library's machine code; when it changes, it is compiled anew.  It lies where
# that of a wheel does, so that it is there whatever cache a program has.
OBJECTS := jit/library/objects
LIBRARY := $(wildcard jit/*.py jit/kernel/*.py jit/library/*.py jit/codegen/*.py jit/runtime/*.py)
CODE := __init__.py __main__.py security.py testing.py alias cli engine io jit ops train
TYPED := -m numbaflow.security -m numbaflow.testing -p numbaflow.cli -p numbaflow.engine -p numbaflow.io -p numbaflow.ops -p numbaflow.jit \
         -p numbaflow.train

ifeq ($(TF),1)
TF_STAMP := $(TF_VENV)/.stamp
endif
ifeq ($(PEERS),1)
PEER_STAMPS := $(foreach p,tf jax torch pytensor,$(PEER_VENVS)/$(p)/.stamp)
endif
# What runs with TensorFlow beside it, where there is one.
WITH_TF = if test -e $(TF_VENV)/.ready && test -z "$$NUMBAFLOW_TF_PYTHON"; then \
          export NUMBAFLOW_TF_PYTHON="$(abspath $(TF_VENV))/bin/python"; fi;

.PHONY: run bytecode test test-deep test-gpu bench-gpu check lint format types pytest guarded bench install warm wheel clean

run: warm
	$(VENV)/bin/numbaflow run examples/digits_cnn.py

# As for any package that pip installs; where PYTHONDONTWRITEBYTECODE is set, each process would
# otherwise parse all that it imports, which takes longer than a small program.
bytecode: | $(PY)
	@$(PY) -m compileall -q $(CODE)

test: check pytest

# (What stands still for 20 seconds, 50 times, takes a quarter of an hour.)
test-deep: PYTEST_FLAGS += --deep -o faulthandler_timeout=3600
test-deep: check pytest guarded

check: lint types

lint: $(VENV)/.stamp-test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

format: $(VENV)/.stamp-test
	$(VENV)/bin/ruff check --fix-only --quiet .
	$(VENV)/bin/ruff format .

# The checker finds the package by name through a link, as this folder may have any name.
types: $(VENV)/.stamp-test
	mkdir -p $(VENV)/named && ln -sfn "$(CURDIR)" $(VENV)/named/numbaflow
	cd $(VENV)/named && $(abspath $(VENV))/bin/mypy --config-file "$(CURDIR)/pyproject.toml" $(TYPED)

# Both at once, as most tests take one core; what the others say is printed behind these.
pytest: $(VENV)/.stamp-test bytecode $(TF_STAMP)
	@$(WITH_TF) mkdir -p build; \
	  $(PY) -m pytest $(PYTEST_FLAGS) $(COMPILING:%=--ignore=%) > build/other_tests.log 2>&1 & others=$$!; \
	  $(PY) -m pytest $(PYTEST_FLAGS) $(COMPILING); ours=$$?; \
	  wait $$others; theirs=$$?; cat build/other_tests.log; exit $$((ours ? ours : theirs))

guarded: $(VENV)/.stamp-test
	NUMBAFLOW_TEST_GUARDS=$(GUARDS) $(PY) -m pytest -m cpu $(filter-out --deep,$(PYTEST_FLAGS))

bench: $(VENV)/.stamp-examples bytecode $(TF_STAMP) $(PEER_STAMPS)
	@$(WITH_TF) $(PY) -m benchmarks --peers $(PEER_VENVS) $(BENCH_FLAGS); ours=$$?; \
	  $(PY) -m benchmarks.models --peers $(PEER_VENVS) $(MODEL_FLAGS) && exit $$ours

# They use the card that there is, by the driver's binding.
test-gpu: $(VENV)/.stamp-test
	$(VENV)/bin/pip install $(PIP_FLAGS) -e ".[$(CUDA)]"
	$(PY) -m pytest $(PYTEST_FLAGS) -m cuda tests/jit/cuda
	NUMBAFLOW_GPU=auto $(PY) -m pytest $(PYTEST_FLAGS) tests/ops/test_registry.py tests/ops/test_kept.py

bench-gpu: $(VENV)/.stamp-examples
	$(VENV)/bin/pip install $(PIP_FLAGS) -e ".[$(CUDA)]"
	$(PY) -m benchmarks.gpu
	$(PY) -m benchmarks.gpu_products
	$(PY) -m benchmarks.gpu_latency

install: $(VENV)/.stamp-test bytecode

# Of the committed files, or those about to be: the machine code is made by the very modules that it
# is packed with, and what else lies in this folder stays out.
wheel: $(VENV)/.stamp-test
	rm -rf $(WHEEL)
	git checkout-index --all --prefix=$(WHEEL)/numbaflow/
	cd $(WHEEL) && NUMBAFLOW_CACHE="$(abspath $(WHEEL))/kernels" $(abspath $(PY)) -m numbaflow \
	  cache export-library numbaflow/jit/library/objects $(foreach l,$(LEVELS),--target $(l))
	$(PY) -m build --wheel --outdir dist $(WHEEL)/numbaflow

$(PY):
	@test -n "$(PYTHON)" || { echo "numbaflow needs Python 3.11 or newer: none of" \
	  "$(CANDIDATES) is. Name one with: make PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -c '$(NEW_ENOUGH)' || { echo "numbaflow needs Python 3.11 or newer, but" \
	  "$(PYTHON) is `$(PYTHON) --version`. Name another with: make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --without-pip $(VENV) \
	  && $(PYTHON) -m pip --python $(VENV) install $(PIP_FLAGS) pip; }

$(VENV)/.stamp-%: pyproject.toml | $(PY)
	$(PY) -m pip install $(PIP_FLAGS) --editable ".[$*]"
	@touch $@

warm: $(VENV)/.warm

$(VENV)/.warm: $(VENV)/.stamp-examples $(LIBRARY) | bytecode
	$(VENV)/bin/numbaflow cache export-library $(OBJECTS) --target native \
	  || $(VENV)/bin/numbaflow cache warm
	@touch $@

# Tried once: without a TensorFlow for this Python the comparison tests are skipped.
$(TF_VENV)/.stamp:
	@$(PYTHON) -m venv $(TF_VENV) \
	  && $(TF_VENV)/bin/python -m pip install $(PIP_FLAGS) "tensorflow-cpu>=2.16" \
	  && $(TF_VENV)/bin/python -c "import tensorflow" 2>/dev/null && touch $(TF_VENV)/.ready \
	  || echo "no TensorFlow for $(PYTHON) here: the tests that compare with it will be skipped"
	@mkdir -p $(TF_VENV) && touch $@

# A peer that cannot be installed here is missing from the table.
$(PEER_VENVS)/%/.stamp:
	@{ $(PYTHON) -m venv $(@D) && $(@D)/bin/python -m pip install $(PIP_FLAGS) $(PEER_$*); } \
	  || { echo "no $* for $(PYTHON) here: the benchmarks run without it"; rm -rf $(@D); }
	@mkdir -p $(@D) && touch $@

clean:
	rm -rf $(VENV) $(TF_VENV) $(PEER_VENVS) $(OBJECTS) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
