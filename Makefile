# SPDX-License-Identifier: BSD-3-Clause
# Thin, over Meson: what takes more than a line is in scripts/.
#
#   make            build/weir
#   make run        set up, build, and forward a real capture
#   make test       unit, end to end (a case of each test), lint, and the suite under ASan and UBSan (of end to end, the main job)
#   make check      make test, whole, and the long ones: clang, TSan, properties, fuzzing, soak, other machines
#   make soak       the long runs alone, ten minutes each
#   make bench      ours beside peers
#   make lint       checks of the sources;  make format  formats them
#   make docs       API reference and guide, into build/docs
#   make install    library, headers, weir.pc and program, under DESTDIR and PREFIX
#   make clean      takes away what these made; not what is yours
#
# Meson options: make MESON_OPTIONS=-Dplatform=generic

MESON_OPTIONS =
export PREFIX DESTDIR

.PHONY: all run setup test check soak bench lint format docs install clean

all: setup
	@scripts/build $(MESON_OPTIONS)

setup:
	@scripts/setup build

run: all
	build/weir run examples/forward.yaml

test:
	@scripts/test

check:
	@scripts/test --long

soak:
	@scripts/soak

bench: all
	-@scripts/bench-peers
	build/weir bench

lint:
	@scripts/setup lint
	@scripts/lint

format:
	@scripts/setup lint
	@scripts/check-format --fix

docs:
	@scripts/setup docs
	@scripts/docs

install: all
	@scripts/install

clean:
	rm -rf build build-asan build-tsan build-clang build-fuzz build-generic build-fcontext build-aarch64 build-ppc64le build-riscv64
	find bench scripts tests -name __pycache__ -prune -exec rm -rf {} +
	sed -n 's,.*\(out/[a-z]*\.[a-z]*\).*,\1,p' examples/forward.yaml | xargs rm -f # by make run
	[ ! -d out ] || rmdir --ignore-fail-on-non-empty out
