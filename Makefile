# Front door: everything here calls a CMake preset or a script. `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 300
QUICK ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Picked when a recipe runs, because `make demo` and `make check` may install CMake first.
CMAKE ?= $$(scripts/pick-cmake)

.PHONY: all npm web demo check check-builds check-full check-corpus bench fuzz install uninstall clean help

all:
	@$(CMAKE) --preset release -DCMAKE_INSTALL_PREFIX="$(PREFIX)" >/dev/null
	@$(CMAKE) --build --preset release -j $(JOBS)

npm:
	@scripts/install-deps web
	@scripts/build-npm

web:
	@scripts/install-deps web
	@scripts/build-web

demo:
	@scripts/install-deps build demo
	@$(MAKE) --no-print-directory all
	@scripts/demo

check:
	@scripts/install-deps build demo test web
	@scripts/check

check-builds:
	@scripts/install-deps build demo test machines
	@$(MAKE) --no-print-directory all
	@scripts/check --builds

check-full:
	@scripts/install-deps build demo test machines web
	@scripts/check --full

check-engines:
	@scripts/install-deps build demo test engines web
	@$(MAKE) --no-print-directory all
	@scripts/check-engines

check-corpus:
	@scripts/install-deps build demo test bench
	@$(MAKE) --no-print-directory all
	@tests/corpus/check

bench:
	@scripts/install-deps build bench
	@$(MAKE) --no-print-directory all
	@bench/run $(if $(QUICK),--quick)
	@bench/run-stacks $(if $(QUICK),--quick)
	@bench/run-logs $(if $(QUICK),--quick)
	@bench/symbian $(if $(QUICK),--quick)

fuzz:
	@scripts/install-deps build test
	@scripts/fuzz $(FUZZ_SECONDS)

install: all
	@DESTDIR="$(DESTDIR)" $(CMAKE) --install build/release
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig 2>/dev/null || true; fi

uninstall:
	@test -f build/release/install_manifest.txt || { echo "uninstall: nothing was installed from here" >&2; exit 1; }
	@sed "s|^|$(DESTDIR)|" build/release/install_manifest.txt | tr '\n' '\0' | xargs -0 rm -f

clean:
	rm -rf build

help:
	@echo "make               the release build: build/release/callsign and the libraries beside it"
	@echo "make web           the static page, for any web server beside .gsym files: build/web/"
	@echo "make npm           the npm package (the lookup library as WebAssembly): build/npm/"
	@echo "make demo          installs what the build needs (Debian), builds, shows the main job on a small program"
	@echo "make check         installs what the tests need, then the tests of the release build"
	@echo "make check-builds  the tests under AddressSanitizer, on a big-endian machine and on Windows"
	@echo "make check-full    all cases but some under sanitizers, more sanitizers, every other machine, fuzzing (more than an hour)"
	@echo "make check-engines bindings, web page, Spark, ClickHouse, DuckDB and Polars, from their registries"
	@echo "make check-corpus  checks on real input: glibc, the Linux kernel, Ceph (fetched once, some 3 GB)"
	@echo "make bench         times conversion and lookup against the rivals that are installed (QUICK=1: a minute)"
	@echo "make fuzz          each fuzz target for FUZZ_SECONDS=$(FUZZ_SECONDS)"
	@echo "make install       to PREFIX=$(PREFIX), below DESTDIR=$(DESTDIR); make uninstall takes it away"
	@echo "make clean         removes build/"
