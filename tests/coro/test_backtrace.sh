#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# gdb's backtrace goes from within a coroutine through those who resumed it up to main().
set -u

program=$1
if ! command -v gdb >/dev/null; then
	echo "skipped: gdb is not installed"
	exit 77
fi
# gdb could not stop it where it may not trace others, as in some containers. Leaks are not the subject.
found=$(ASAN_OPTIONS=detect_leaks=0 timeout 60 gdb -nx -batch -ex 'set debuginfod enabled off' \
	-ex 'break innermost' -ex run -ex 'bt 40' "$program" 2>&1)
case $found in
*ptrace:* | *"Couldn't get registers"* | *"Cannot create process"*)
	echo "skipped: gdb may not trace here: $found"
	exit 77
	;;
esac
echo "$found"
# Each on the way out, in this order.
echo "$found" | awk '
	BEGIN { nb = split("innermost inner_run coro_main resumes_here outer_run coro_main main", want, " "); at = 1 }
	/^#/ && at <= nb && $0 ~ "(in |#[0-9]+ +)" want[at] " " { at++ }
	END { if (at <= nb) { print "no frame of " want[at]; exit 1 } }
'
