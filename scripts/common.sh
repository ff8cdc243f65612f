# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What the scripts share: where the tree is, tools that work, build
# directories, and steps whose results are counted. To be sourced, not run.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() {
	printf '%s\n' "$*"
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# working_tool NAME...: path of the first that not only exists but runs. (A
# version manager may put wrappers first in PATH that fail.)
working_tool() {
	local name path
	for name in "$@"; do
		while IFS= read -r path; do
			if "$path" --version </dev/null >/dev/null 2>&1; then
				printf '%s\n' "$path"
				return 0
			fi
		done < <(type -aP "$name"; [ -x "/usr/bin/$name" ] && printf '/usr/bin/%s\n' "$name")
	done
	return 1
}

# python_with MODULE...: path of a Python that has these modules.
python_with() {
	local python
	while IFS= read -r python; do
		if "$python" -c 'import importlib.util, sys
sys.exit(any(importlib.util.find_spec(m) is None for m in sys.argv[1:]))' "$@" 2>/dev/null; then
			printf '%s\n' "$python"
			return 0
		fi
	done < <([ -n "${PYTHON:-}" ] && printf '%s\n' "$PYTHON"; type -aP python3
		[ -x /usr/bin/python3 ] && printf '/usr/bin/python3\n')
	return 1
}

meson() {
	[ -n "${MESON:-}" ] || MESON=$(working_tool meson) || die "meson not found; run scripts/setup build"
	[ -n "${NINJA:-}" ] || NINJA=$(working_tool ninja ninja-build) || die "ninja not found; run scripts/setup build"
	export NINJA
	command "$MESON" "$@"
}

# The folder for libraries that this machine's linker looks into, where Meson may guess wrong:
# on Debian it asks a development package that need not be there.
default_libdir() {
	local multiarch
	if [ -f /etc/debian_version ] && multiarch=$(cc -print-multiarch 2>/dev/null) && [ -n "$multiarch" ]; then
		printf -- '--libdir=lib/%s' "$multiarch"
	fi
}

# configure DIR [OPTION]...: make DIR a build directory with these options;
# nothing to do when it is one already.
configure() {
	local dir=$1 mark=$1/weir-options
	shift
	if [ -f "$dir/build.ninja" ] && [ "$(cat "$mark" 2>/dev/null)" = "$*" ]; then
		return 0
	fi
	if [ -f "$dir/build.ninja" ] && [ -f "$mark" ]; then
		meson setup --reconfigure "$dir" "$ROOT" "$@" || return
	elif [ -f "$dir/build.ninja" ]; then
		# Somebody's own set-up: theirs, unless options were asked for.
		if [ $# -gt 0 ]; then
			meson setup --reconfigure "$dir" "$ROOT" "$@" || return
		fi
	elif [ -d "$dir/meson-private" ]; then
		rm -rf "$dir" # a set-up that was interrupted
		meson setup "$dir" "$ROOT" $(default_libdir) "$@" || return
	else
		meson setup "$dir" "$ROOT" $(default_libdir) "$@" || return
	fi
	printf '%s\n' "$*" >"$mark"
}

# build DIR [OPTION]...: configure and compile.
build() {
	configure "$@" && meson compile -C "$1"
}

# with_compiler CC COMMAND...: run it with this compiler of C, and the one of C++ that belongs to it.
with_compiler() {
	local cc=$1 cxx=${1/gcc/g++}
	shift
	CC=$cc CXX=${cxx/clang/clang++} "$@"
}

# build_installed DIR: compile what is installed: library and program, no tests.
build_installed() {
	meson compile -C "$1" weir:shared_library weir:static_library app/weir:executable
}

# Options of the build directories that the tests use beside build/.
OPTIONS_ASAN="-Db_sanitize=address,undefined -Doptimization=1 -Db_lundef=false -Dem_checks=true"
OPTIONS_TSAN="-Db_sanitize=thread -Doptimization=1 -Db_lundef=false"
OPTIONS_FUZZ="-Dfuzz=true -Db_sanitize=address,undefined -Doptimization=1 -Db_lundef=false"

# What sanitized programs run with; see the files for what is suppressed and why.
sanitizer_environment() {
	local suppressions=$ROOT/scripts/sanitizers
	export ASAN_OPTIONS=abort_on_error=1:detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=0
	export LSAN_OPTIONS=suppressions=$suppressions/lsan.supp:print_suppressions=0
	export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
	export TSAN_OPTIONS=suppressions=$suppressions/tsan.supp:halt_on_error=1:second_deadlock_stack=1
}

# Counted steps. RESULTS is a file with a line "passed failed" per step.

results_begin() {
	RESULTS=$(mktemp)
	trap 'rm -f "$RESULTS"' EXIT
	STARTED=$SECONDS
}

# results_add PASSED FAILED
results_add() {
	printf '%s %s\n' "$1" "$2" >>"$RESULTS"
}

heading() {
	printf '\n==> %s (at %d:%02d)\n' "$*" $(((SECONDS - STARTED) / 60)) $(((SECONDS - STARTED) % 60))
}

# step NAME COMMAND...: run it; its output goes to build/logs/, and is shown when it fails.
step() {
	local name=$1 log
	shift
	mkdir -p "$ROOT/build/logs"
	log=$ROOT/build/logs/${name//[^A-Za-z0-9]/-}.log
	heading "$name"
	if "$@" </dev/null >"$log" 2>&1; then
		results_add 1 0
		tail -n 1 "$log"
		return 0
	fi
	results_add 0 1
	tail -n 200 "$log"
	say "FAILED: $name"
	return 1
}

# How many tests to run at a time: half as many again as there are CPUs, since many wait.
tests_at_once() {
	echo $((($(nproc) * 3 + 1) / 2))
}

# unit_tests NAME DIR [ARGUMENT]...: run the tests of a build directory, count each. They are built by then, or, with --suite, now.
unit_tests() {
	local name=$1 dir=$2 status=0 counts rebuild=(--no-rebuild)
	shift 2
	heading "$name"
	rm -f "$dir"/meson-logs/testlog*.json
	[[ " $* " != *" --suite "* ]] || rebuild=()
	meson test -C "$dir" --num-processes "$(tests_at_once)" "${rebuild[@]}" --print-errorlogs "$@" </dev/null || status=$?
	counts=$("$ROOT/scripts/count-tests" "$dir"/meson-logs/testlog*.json) || counts="0 0"
	count_or_fail "$name" "$status" "$counts"
}

# py_tests NAME ARGUMENT...: pytest, counts each. Several at a time, where pytest-xdist
# is installed; tests of one xdist_group run one after the other, in order.
py_tests() {
	local name=$1 python status=0 counts xml parallel=(-n "$(tests_at_once)" --dist loadgroup)
	shift
	heading "$name"
	python=$(python_with pytest scapy xdist) || parallel=()
	[ -n "$python" ] || python=$(python_with pytest scapy) || die "no Python with pytest and scapy; run scripts/setup test"
	mkdir -p "$ROOT/build/logs"
	xml=$ROOT/build/logs/${name//[^A-Za-z0-9]/-}.xml
	rm -f "$xml"
	(cd "$ROOT" && "$python" -m pytest -q -p no:cacheprovider "${parallel[@]}" --junitxml="$xml" "$@") </dev/null || status=$?
	counts=$("$ROOT/scripts/count-tests" "$xml") || counts="0 0"
	count_or_fail "$name" "$status" "$counts"
}

# A run that failed without a failed test (nothing was run, or the runner
# itself broke) counts as one.
count_or_fail() {
	local name=$1 status=$2 passed=${3% *} failed=${3#* }
	if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
		failed=1
	fi
	results_add "$passed" "$failed"
	[ "$failed" -eq 0 ] && return 0
	say "FAILED: $name"
	return 1
}

# The closing line, alone: "N passed, N failed". Fails when anything did.
results_end() {
	local passed=0 failed=0 p f
	while read -r p f; do
		passed=$((passed + p))
		failed=$((failed + f))
	done <"$RESULTS"
	printf '\n%d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
