# The project's commands. `make` alone lists them.
.PHONY: help build dist packages test-packages test-ansible demo bench bench-programs test test-all check format lint doc unit attacks testbeds machine faults deny bless fuzz install clean

CARGO ?= cargo
# Where cargo puts what it builds.
TARGET = $(or $(CARGO_TARGET_DIR),target)

help:
	@echo 'make demo      embedded SQLite, no set-up: loads, runs a small ramp, shows table and audit'
	@echo 'make test      everything: format, lints, documentation, all tests on real servers'
	@echo 'make test-all  the same on the servers'"'"' middle versions, too'
	@echo 'make attacks   attempts to mislead a run, on real servers; the table goes to target/attacks.md; takes half an hour'
	@echo 'make faults    SIGKILL of Dyno and of servers at random moments of every command; the table goes to target/faults.md; takes an hour'
	@echo 'make bench     every benchmark, against its peers; make bench-NAME one of them; QUICK=1 a short pass'
	@echo 'make check     format, lints and documentation only'
	@echo 'make build     the program, in target/release/dyno'
	@echo 'make dist      archives of a release with a static program, in target/packages; TARGETS=x86_64-unknown-linux-musl only this one'
	@echo 'make packages  the archives, and a Debian package, an RPM and an OCI image of each'
	@echo 'make test-packages  archive and packages on fresh roots of Debian 11 and 12, as root; builds the archive if there is none'
	@echo 'make test-ansible  the Ansible collection against this host, in a temporary folder; installs Ansible into the target folder if it is missing'
	@echo 'make install   the program, into cargo'"'"'s bin directory'
	@echo 'make machine   a virtual machine with two kernels and a disk to spare, for studies that no machine in use is to meet; scripts/machine.sh leads it'
	@echo 'make fuzz      the readers of plans, sizes, rates and URLs on arbitrary text, for minutes'
	@echo 'make deny      licences and sources of everything in the build (needs cargo-deny)'
	@echo 'make bless     writes generated files anew: plan reference, record schema, list of next steps, the list of Oracle'"'"'s statements that its grammar accepted'

build:
	$(CARGO) build --release -p dyno

# TARGETS: those of rustc; x86_64 and aarch64 with musl where it is empty.
dist:
	sh scripts/dist.sh $(TARGETS)

packages: dist
	for archive in $(TARGET)/packages/*.tar.gz; do sh packaging/build.sh "$$archive" && sh packaging/container/build.sh "$$archive" || exit; done

# On the architecture of this machine.
HOST_ARCHIVE = $(TARGET)/packages/dyno-$(shell sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)-$(shell uname -m)-unknown-linux-musl.tar.gz
test-packages:
	test -e $(HOST_ARCHIVE) || sh scripts/dist.sh $(shell uname -m)-unknown-linux-musl
	sh testing/packages.sh $(HOST_ARCHIVE)

# With the built program of DYNO_PROGRAM, else target/release/dyno; PARTS="0_lint 1_single_host" only these.
test-ansible:
	DYNO_ANSIBLE_VENV=$(abspath $(TARGET))/ansible-venv sh packaging/ansible/tests/run.sh

# With the embedded engine alone, and optimised only where a run measures: from sources it is there in a third of the time.
demo:
	$(CARGO) build --profile quick -p dyno --no-default-features --features sqlite
	sh scripts/demo.sh $(TARGET)/quick/dyno

# Benchmarks need the servers and tools of the tests. Figures go to target/bench; docs/internals/performance.md says how to read them.
bench: build bench-programs
	python3 testing/benches/run.py

bench-programs:
	$(CARGO) build --release -p dyno-prove --example measuring -p dyno-drive --example bare -p dyno-sqlite --example sqlite_reads -p dyno-postgres --example postgres_waiting

bench-%: build bench-programs
	python3 testing/benches/run.py $*

# One build compiles, lints and documents the workspace (scripts/rustc.sh); what `make check` and `make unit` do one after the other
# would compile everything three times. Servers are fetched beside it.
test: export RUSTC_WORKSPACE_WRAPPER = $(CURDIR)/scripts/rustc.sh
# As cargo-clippy hands its arguments to its driver.
test: export CLIPPY_ARGS = -Dwarnings__CLIPPY_HACKERY__
# Files for a faster next build take a tenth of the time of the first one, which is all that a fresh clone has.
test: export CARGO_INCREMENTAL = 0
test: format
	$(MAKE) testbeds & python3 scripts/tests.py --build; built=$$?; wait $$! && exit $$built
	$(MAKE) unit

# As `make test`, on the versions between the oldest and the newest, too.
test-all:
	DYNO_TEST_ALL=1 $(MAKE) test

check: lint doc

format:
	$(CARGO) fmt --all --check

lint: format
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings

doc:
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --quiet

# Servers and tools that the tests need; installs what is missing.
testbeds:
	sh scripts/testbeds.sh

# Where the time went: target/test-times.md.
# Examples of the documentation: of the whole workspace, because a part of it would be built anew with other features.
unit:
	DYNO_TEST_REQUIRE_ALL=1 python3 scripts/tests.py
	$(CARGO) test --quiet --doc --workspace

# Needs root, QEMU and Debian's packages.
machine:
	sh scripts/machine.sh make

# On servers of the tests. DYNO_ATTACKS=WORD,WORD makes only those whose names hold all the words.
attacks: testbeds
	DYNO_TEST_REQUIRE_ALL=1 $(CARGO) test -p dyno --test dyno attacks:: -- --ignored --nocapture

# DYNO_FAULTS=N kills N of each, 200 without it; DYNO_FAULTS_SEED=N draws the same moments again; DYNO_FAULTS_ONLY=WORD,WORD makes
# only the kills whose names hold all the words. A few are part of `make test`.
faults: testbeds
	DYNO_TEST_REQUIRE_ALL=1 $(CARGO) test -p dyno --test dyno kills -- --ignored --nocapture

# A bounded run is part of `make test`.
fuzz:
	PROPTEST_CASES=$${CASES:-100000} $(CARGO) test --release -p dyno-plan

deny:
	$(CARGO) deny --workspace check bans licenses sources
	@if $(CARGO) deny fetch db; then $(CARGO) deny --workspace check advisories; \
	else echo 'deny: advisories were NOT checked, because their database cannot be fetched from here'; fi

bless:
	DYNO_BLESS=1 $(CARGO) test -q -p dyno-plan -p dyno-record
	DYNO_BLESS=1 $(CARGO) test -q -p dyno-analyze --lib reference_lists_every_rule
	DYNO_BLESS=1 $(CARGO) test -q -p dyno-oracle --lib grammar_tests

install:
	$(CARGO) install --path crates/dyno

clean:
	$(CARGO) clean
