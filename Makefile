# SPDX-License-Identifier: Apache-2.0
# CMake does the work; this is what people type.
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2> /dev/null || getconf _NPROCESSORS_ONLN)
CMAKE_FLAGS ?=
MAKEFLAGS += --no-print-directory
SOURCES = $(shell find include src cli mpi tests fuzz bench docs -name '*.[ch]' -o -name '*.cpp')

# what is installed, and no more
build: configure
	cmake --build build -j $(JOBS) --target product

configure: setup
	cmake -S . -B build -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_FLAGS)

setup:
	@scripts/setup.sh

run: configure
	cmake --build build -j $(JOBS) --target unrelu
	@scripts/demo.sh build

test: build-tests build-asan build-tsan
	@scripts/test.sh $(JOBS) build build-asan build-tsan
	@scripts/python.sh test build

# the Python package in a virtual environment of its own, build/venv
python: configure
	cmake --build build -j $(JOBS) --target unrelu_static
	@scripts/python.sh install build

test-python: build
	@scripts/python.sh test build

build-tests: setup-tests configure
	cmake --build build -j $(JOBS) --target tests

build-asan: setup-tests
	cmake -S . -B build-asan -DUNRELU_SANITIZE=ON -DUNRELU_BENCH=OFF $(CMAKE_FLAGS)
	cmake --build build-asan -j $(JOBS)

build-tsan: setup-tests
	cmake -S . -B build-tsan -DUNRELU_SANITIZE=thread -DUNRELU_BENCH=OFF -DUNRELU_INSTALL=OFF $(CMAKE_FLAGS)
	cmake --build build-tsan -j $(JOBS) --target tests

# ./build/unrelu-mpi and libunrelu_mpi, with Open MPI; later builds in ./build have them too
mpi:
	@scripts/setup.sh --mpi
	cmake -S . -B build -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DUNRELU_MPI=ON $(CMAKE_FLAGS)
	cmake --build build -j $(JOBS) --target product

test-mpi: mpi
	cmake --build build -j $(JOBS) --target test_ranks
	ctest --test-dir build -R '^mpi' --output-on-failure --no-tests=error

setup-tests:
	@scripts/setup.sh --tests

bench: configure
	cmake --build build -j $(JOBS) --target benches
	@scripts/bench.sh build

# every method on planted data, bit by bit as it was recorded; make golden RECORD=record after a
# change that is meant to change results
golden: build-tests
	@tests/golden/run.sh build/unrelu build/tests/golden_arrays $(RECORD)

# files that no memory holds: minutes, and no space, as they are sparse
test-large: configure
	cmake --build build -j $(JOBS) --target unrelu
	@scripts/large.sh build

numbers: build-tests
	@scripts/numbers.sh build

# what is generated and committed
docs: configure
	cmake --build build -j $(JOBS) --target unrelu
	./build/unrelu --write-docs markdown > docs/cli.md
	./build/unrelu --write-docs methods > docs/methods.md
	scripts/paste.sh build/unrelu examples docs/tutorial.md write

install: build
	DESTDIR=$(DESTDIR) cmake --install build
	@cp build/install_manifest.txt build/installed.txt
	@scripts/after_install.sh build "$(DESTDIR)"

uninstall:
	@scripts/uninstall.sh build "$(DESTDIR)"

# a source tarball of what is committed
dist:
	@scripts/release.sh

# every call of the system that a command makes fails in turn
faults: build-tests
	@tests/faults/run.sh build/unrelu build/tests/libinject.so full

# every command on tiny data and the kernels of sums, under memcheck
valgrind: build-tests
	@scripts/setup.sh --valgrind
	@scripts/valgrind.sh build

# every command on tiny data with three threads, and calls at the same time, under the sanitizer of
# threads; a part of make test
tsan: build-tsan
	@scripts/test.sh $(JOBS) build-tsan

# random inputs for everything that reads: SECONDS for each target, or RUNS inputs of each, however
# long they take; SEED repeats a run
RUNS ?= -1
SECONDS ?= $(if $(filter -1,$(RUNS)),10,0)
SEED ?= 0
fuzz:
	@scripts/setup.sh --fuzz
	cmake -S . -B build-fuzz -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DUNRELU_FUZZ=ON $(CMAKE_FLAGS)
	cmake --build build-fuzz -j $(JOBS)
	@scripts/fuzz.sh build-fuzz $(SECONDS) $(SEED) $(RUNS)

# which lines the tests reach; fails below 95 % of them
coverage:
	@scripts/setup.sh --coverage
	@scripts/coverage.sh $(JOBS)

format:
	@clang-format -i $(SOURCES)

check-format:
	@clang-format --dry-run --Werror $(SOURCES)

clean:
	rm -rf python/build python/src/*.egg-info build build-asan build-tsan build-clang build-without build-coverage build-fuzz build-mutate

help:
	@echo 'make build         ./build/unrelu and the libraries (the default)'
	@echo 'make run           builds ./build/unrelu, and shows what it does on planted data'
	@echo 'make test          all tests, plain and under the sanitizers'
	@echo 'make python        the Python package, in a virtual environment of its own: build/venv'
	@echo 'make test-python   its tests, which are a part of make test where Python has what they need'
	@echo 'make bench         ratios of times, measured side by side'
	@echo 'make golden        every method on planted data, bit by bit as recorded'
	@echo 'make test-large    files of up to 50 GB (sparse), into docs/numbers.md'
	@echo 'make numbers       every demanded number in full, into docs/numbers.md'
	@echo 'make docs          docs/cli.md and docs/methods.md from the tables'
	@echo 'make install       to PREFIX ($(PREFIX)), below DESTDIR where that is set'
	@echo 'make uninstall     removes what make install put there'
	@echo 'make dist          a source tarball of what is committed, in build/dist'
	@echo 'make coverage      which lines the tests reach, by folder in docs/coverage.md (gcovr)'
	@echo 'make faults        every command while each call of the system fails in turn'
	@echo 'make valgrind      every command, and the kernels of sums, under memcheck'
	@echo 'make tsan          every command, and calls at the same time, under the sanitizer of threads'
	@echo 'make fuzz          random inputs for all that reads, SECONDS=10 or RUNS=1000000 for each target (clang)'
	@echo 'make mpi           also ./build/unrelu-mpi and libunrelu_mpi (installs Open MPI); test-mpi tests them'
	@echo 'make setup         installs the packages that the build needs (Debian)'
	@echo 'make build-tests   the test programs too; build-asan the same with the sanitizers'
	@echo 'make format        clang-format; check-format only looks'
	@echo 'make clean         removes what was built'

.PHONY: help test-large build configure setup run test build-tests build-asan build-tsan setup-tests bench golden \
	numbers docs install uninstall dist coverage format check-format clean fuzz faults valgrind tsan mpi test-mpi \
	python test-python
