# Everything sets itself up: a machine with Python 3.11+, Rust and make is enough.

PYTHON ?= $(firstword $(foreach p,python3.13 python3.12 python3.11 python3,$(shell $(p) -c 'import sys; assert sys.version_info >= (3, 11); print(sys.executable)' 2>/dev/null)))
CLANG ?= clang
STRIP ?= llvm-strip
BPF_OUT := crates/kernel/bpf
VENV := .venv
BIN := $(VENV)/bin
TOOLS := $(VENV)/.tools
READY := $(VENV)/.ready
GUEST := python/dumbbell/kernel/dumbbell-guest
WASM := python/dumbbell/studio/dumbbell.wasm
# The same random cases in each run; PROPTEST_RNG_SEED=7 make test tries others.
export PROPTEST_RNG_SEED ?= 1
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml -o -name '*.bpf.o') Cargo.toml Cargo.lock

# Tests that failed are repeated once alone where this names the file that notes them (.ci/run).
UNSTABLE ?=
AGAIN := $(if $(UNSTABLE),$(BIN)/python tests/support/again.py $(UNSTABLE))
PYTEST := $(AGAIN) $(BIN)/pytest
PARALLEL := --numprocesses logical --dist loadfile --no-loadscope-reorder
# Their flows leave a processor idle for three quarters of the time.
HOST_CLOCK := $(PARALLEL) --maxprocesses 2

.PHONY: demo test test-rest test-all test-kernel test-capture test-studies test-web test-cluster check bench bpf kernel studio wheel docs deny advisories audit miri clean help

help:            ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /	/'

demo: $(READY)   ## the ns-2 report, reproduced: figures and verdicts in results/ns2-cbr
	$(BIN)/dumbbell study run ns2-cbr --once --out results/ns2-cbr

test: $(READY)   ## the quick tests, Rust and Python: what a change to the core, scenarios, captures or commands breaks
	$(AGAIN) cargo test --workspace --quiet --tests
	$(PYTEST) $(PARALLEL) -m quick
	@echo "The quick tests pass. The rest: make test-rest. One part of it: make test-kernel, test-capture, test-studies, test-web, test-cluster."

test-rest: $(READY) ## all other tests; at last those on the host's own clock, two at a time
	$(AGAIN) cargo test --workspace --quiet --tests -- --ignored
	$(AGAIN) cargo test --workspace --quiet --doc
	$(PYTEST) $(PARALLEL) -m "not quick and not host_clock"
	$(PYTEST) $(HOST_CLOCK) -m host_clock

test-all: test test-rest ## all tests

test-kernel: $(READY) ## tests of the host's kernel, of Linux in virtual time and of ssh
	$(PYTEST) $(PARALLEL) -m "kernel and not host_clock"
	$(PYTEST) $(HOST_CLOCK) -m "kernel and host_clock"

test-capture: $(READY) ## tests of the analysis of captures
	cargo test --package dumbbell-capture --quiet -- --include-ignored
	$(PYTEST) $(PARALLEL) tests/capture

test-studies: $(READY) ## tests of the studies, reports and labs
	$(PYTEST) $(PARALLEL) -m "studies and not host_clock"

test-web: $(READY) ## tests of the studio, and those in a browser
	$(PYTEST) $(PARALLEL) -m "browser and not host_clock"

test-cluster: $(READY) ## tests of sweeps on a cluster
	$(PYTEST) $(PARALLEL) -m cluster

check: $(READY)  ## format, lints, types, stubs
	rustfmt --edition 2024 --check $(filter %.rs,$(RUST)) # not `cargo fmt`: it misses modules that a macro declares
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff format --check packaging python tests docs validation benches
	$(BIN)/ruff check packaging python tests docs validation benches
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest dumbbell._core

bench: $(READY)  ## speed of the simulator (beside ns-2), its instructions, in WebAssembly, and of the analysis (beside tcptrace), where those are installed
	$(BIN)/python benches/speed.py
	$(BIN)/python benches/instructions.py
	$(BIN)/python benches/capture.py
	$(BIN)/python benches/disciplines.py
	$(BIN)/python benches/variants.py
	$(BIN)/python benches/link.py
	$(BIN)/python benches/web.py

# Compiled in their own folder, so that the objects don't depend on where the checkout is.
bpf:             ## compile congestion control in BPF (needs clang and llvm-strip); the objects are kept in git
	cd crates/kernel/bpf && for source in *.bpf.c; do \
		object="$(abspath $(BPF_OUT))/$${source%.c}.o"; \
		$(CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror -fdebug-compilation-dir=. -c $$source -o $$object \
			&& $(STRIP) -g $$object || exit 1; \
	done
	$(CLANG) -dumpversion > "$(BPF_OUT)/clang-version"

kernel: $(READY) ## build the virtual-time kernel (--backend uml), unless it exists
	$(BIN)/dumbbell kernel build

studio:          ## the simulator and the analysis of captures as WebAssembly, in the Python package (needs Rust's target wasm32-unknown-unknown; rustup adds it)
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed (set PYTHON=...)" >&2; exit 1; }
	@$(PYTHON) packaging/build_web.py

# In the same folder and with the same profile as the editable installation: what that has compiled isn't compiled again.
wheel: $(TOOLS)  ## a wheel for this platform in build/wheels, with the guest program of `--backend uml` and the page of `dumbbell studio`
	rm -f build/wheels/dumbbell-*.whl
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/pip wheel --quiet --no-build-isolation --no-deps --wheel-dir build/wheels .

docs: $(READY)   ## the documentation, in site/
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/pip install --quiet --no-build-isolation --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	cargo doc --workspace --no-deps --quiet

DENY = command -v cargo-deny >/dev/null || { echo "cargo-deny is needed: cargo install --locked cargo-deny" >&2; exit 1; }

deny:            ## licenses, bans and sources of the Rust dependencies (cargo-deny needed)
	@$(DENY)
	@# The check itself is offline: it needs the crates only.
	cargo fetch --locked --quiet
	cargo deny --locked --offline check licenses bans sources

advisories:      ## known vulnerabilities of the Rust dependencies (cargo-deny needed)
	@$(DENY)
	cargo deny --locked check advisories

audit:           ## known vulnerabilities of the Python dependencies, with all extras (pip-audit needed)
	@command -v pip-audit >/dev/null || { echo "pip-audit is needed: pipx install pip-audit" >&2; exit 1; }
	@# --strict: a package that can't be audited is an error. Without it, pip-audit reports no vulnerabilities if its source knows no package.
	given=$$(mktemp) && $(BIN)/python -m pip list --format=freeze --exclude-editable --exclude dumbbell > $$given \
	  && pip-audit --strict --no-deps --disable-pip --progress-spinner off -r $$given; status=$$?; rm -f $$given; exit $$status

# The interpreter can't run the system calls of the other unsafe code: mmap in capture, sys in kernel. Leaks are not reported,
# because a loaded variant's registry row lives as long as the process.
miri:            ## the unsafe code of the plugin interface under miri (nightly Rust with miri and rust-src needed)
	MIRIFLAGS=-Zmiri-ignore-leaks cargo +nightly miri test --package dumbbell-plugin --features load --lib

clean:           ## remove everything that make has made
	rm -rf $(VENV) target build/wheels site .mypy_cache .ruff_cache .pytest_cache python/dumbbell/_core*.so $(GUEST) $(WASM)

# The tools come first and rarely change; the package is built again when Rust sources or its metadata change.
$(TOOLS):
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed (set PYTHON=...)" >&2; exit 1; }
	@command -v cargo >/dev/null || { echo "Rust is needed: https://rustup.rs" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet 'maturin>=1.16,<2'
	@touch $@

$(READY): $(TOOLS) pyproject.toml $(wildcard packaging/*.py) $(RUST)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/pip install --quiet --no-build-isolation --editable '.[dev,studies,web,ssh,cluster,validation]'
	@touch $@
