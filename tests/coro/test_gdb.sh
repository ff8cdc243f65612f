#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test_gdb.sh SCRIPT PROGRAM...: what gdb tells of coroutines with our script, of a program that runs and of its core
# file, and that nothing changes by that.
set -u

script=$1
shift
if ! command -v gdb >/dev/null; then
	echo "skipped: gdb is not installed"
	exit 77
fi
if ! gdb -nx -batch -ex 'python assert hasattr(gdb.PendingFrame, "level")' 2>&1 | awk '{ exit 1 }'; then
	echo "skipped: this gdb has no Python, or is older than 11"
	exit 77
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
status=0

# gdb with the script; the name of what follows is printed before each command.
debug() {
	output=$1
	shift
	cat >"$dir/commands"
	ASAN_OPTIONS=detect_leaks=0 timeout 80 gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set width 0' \
		-ex "source $script" -x "$dir/commands" "$@" >"$output" 2>&1
}

# What the output has in a section.
section() {
	awk -v name="### $2" '$0 == name { on = 1; next } /^### / { on = 0 } on' "$1"
}

wrong() {
	echo "$program: $*"
	status=1
}

# section, extended regular expression of a line
expect() {
	section "$output" "$1" | grep -Eq -- "$2" || wrong "$1: no line is: $2"
}

refuse() {
	! section "$output" "$1" | grep -Eq -- "$2" || wrong "$1: a line is: $2"
}

# section, functions on the way out, in this order; the last one: of the last frame, unless that is "..."
expect_frames() {
	section "$output" "$1" | awk -v functions="$2" '
		BEGIN { nb = split(functions, want, " "); at = 1 }
		/^#/ { last = "" }
		/^#/ && $0 ~ ("^#[0-9]+ +(0x[0-9a-f]+ in )?" want[at] " ") { last = want[at]; at++ }
		/^#/ && frames++ == 0 && $0 !~ /^#0/ { print "the first frame is not 0"; exit 1 }
		END { exit !(at > nb && last == want[nb] || at == nb && want[nb] == "...") }' || wrong "$1: the frames are not $2"
}

# What a suspended one looks like, in a live program and in a core file.
check_suspended() {
	expect list '^ *0 +0 +suspended +parse_file +77000 +1 +[0-9]+ .* parse_value \(gdb_program.c:[0-9]+\)$'
	expect list '^ *1 +0 +suspended +rebuild_table +0 +5 +[0-9]+ .* rebuild_table \(gdb_program.c:[0-9]+\)$'
	expect list '^ *2 +0 +suspended +parse_file +77000 +0 +0 .* not begun$'
	expect list '^ *3 +0 +exited +ends_at_once +77000 +1 +- .* -$'
	expect list '^ *4 +0 +running +spins +77000 +1 .* thread [23], (spin_until_told \(gdb_program.c:[0-9]+\)|.*tsan.*)$'
	expect list '^ *5 +0 +running +resumes_another .* thread 1, resumed 6$'
	expect list '^ *6 +0 +running +innermost_run .* thread 1, '
	expect list '^ *315 +1 +suspended +one_of_many +0 +1 .* one_of_many .*, cancelled$'
	expect list '^307 coroutines: 303 suspended, 3 running, 1 exited$'
	expect_frames bt-0 'parse_value parse_list parse_list parse_list parse_file coro_main coro_entry'
	expect_frames bt-1 'rebuild_table coro_main coro_entry'
	expect bt-2 '^\(not begun\)$'
	expect bt-3 '^\(it has exited\)$'
	expect bt-4 '^Coroutine 4 \(class 0, running\), entry spins, thread [23]:$'
	expect_frames bt-4 'spin_until_told spins coro_main other_thread ...'
	expect_frames bt-5 'resumes_another coro_main main'
	expect_frames bt-6 'stop_here innermost_run coro_main resumes_another coro_main main'
	expect_frames bt-many 'one_of_many coro_main coro_entry one_of_many coro_main coro_entry'
	expect bt-many '^298 more; '
	expect depth '^\$[0-9]+ = 2$'
	for wanted in bt-0 bt-1 bt-many; do
		refuse "$wanted" 'Backtrace stopped|stop_here|main \(argc'
	done
}

look='echo ### list\n
info coroutines -limit all
echo ### bt-0\n
coro bt 0
echo ### bt-1\n
coro bt 1
echo ### bt-2\n
coro bt 2
echo ### bt-3\n
coro bt 3
echo ### bt-4\n
coro bt 4
echo ### bt-5\n
coro bt 5
echo ### bt-6\n
coro bt 6
echo ### bt-many\n
coro bt all -class 1 -limit 2
echo ### depth\n
coro apply 0 -- frame apply all -s print depth
'
state='thread apply all info registers
frame
info locals
'

check_live() {
	output=$dir/live
	debug "$output" "$program" <<-END
		break stop_here
		run
		thread 2
		up
		echo ### before\n
		$state
		$look
		echo ### short\n
		info coroutines -state suspended -class 1 -limit 3
		echo ### filter\n
		coro list -entry "^parse_|^ends"
		echo ### two-frames\n
		coro bt 0 1 -- 2
		echo ### error-number\n
		python
		def fails(command):
		    try:
		        gdb.execute(command)
		        print("it was taken")
		    except gdb.error as error:
		        print("refused:", error)
		fails("coro bt 99999")
		fails("coro bt 7")
		fails("coro bt word")
		fails("coro bt")
		fails("coro apply 0")
		fails("info coroutines -state asleep")
		fails("info coroutines -entry (")
		fails("info coroutines -limit many")
		fails("info coroutines -entry [")
		fails("info coroutines -limit -3")
		end
		echo ### error-command\n
		coro apply 0 5 1 -- print no_such_thing
		echo ### damaged\n
		set var \$sp_was = coro_classes[0].blocks[0].contexts.own.sp
		set var coro_classes[0].blocks[0].contexts.own.sp = (void *)16
		info coroutines -limit 1
		coro bt 0 1
		set var coro_classes[0].blocks[0].contexts.own.sp = \$sp_was
		echo ### after\n
		$state
		echo ### left\n
		thread 1
		tbreak *((struct weir_coro_block *)weir_coro_thread.current)->contexts.resumer.pc
		continue
		info coroutines -state running
		echo ### end\n
		delete
		continue
	END
	case $(cat "$output") in
	*ptrace:* | *"Couldn't get registers"* | *"Cannot create process"*)
		echo "skipped: gdb may not trace here"
		exit 77
		;;
	esac
	check_suspended
	# A canary is on a page of the stack, which is none that the coroutine touched.
	expect list '^ *315 +1 +suspended +one_of_many +0 +1 +[0-9]+ +(4096|8192|12288) '
	expect short '^300 coroutines: 300 suspended$'
	expect short '^297 more; '
	[ "$(section "$output" short | wc -l)" -eq 6 ] || wrong "short: not 3 of them"
	expect filter '^3 coroutines: 2 suspended, 1 exited$'
	[ "$(section "$output" two-frames | grep -c '^#')" -eq 4 ] || wrong "two-frames: not 2 each"
	[ "$(section "$output" error-number | grep -c '^refused: ')" -eq 10 ] || wrong "not all is refused that is wrong"
	refuse error-number 'Traceback|it was taken|Error occurred in Python'
	expect error-number 'no coroutine 99999 is alive'
	expect error-number "-entry: '\\[' is no regular expression: "
	expect error-number '-limit: a number from 0, or all'
	[ "$(section "$output" error-command | grep -c 'No symbol "no_such_thing"')" -eq 3 ] ||
		wrong "error-command: not told of each"
	expect damaged '0x10 is outside of its stack'
	expect_frames damaged 'rebuild_table coro_main coro_entry'
	section "$output" before >"$dir/before"
	section "$output" after >"$dir/after"
	[ -s "$dir/before" ] && cmp "$dir/before" "$dir/after" || wrong "something is not as it was before"
	# Where a coroutine has just left to it is not the one that runs, whatever is still noted.
	expect left '^ *5 .* thread 1, resumes_another '
	expect left '^ *6 .* being switched'
	expect end '^304 came to their end$'
	expect end 'exited normally'
}

# Where the kernel leaves one in the working folder. Sanitizers make none.
check_core() {
	output=$dir/core-told
	(cd "$dir" && ulimit -c unlimited && exec timeout 20 "$program" abort) >/dev/null 2>&1
	core=$(find "$dir" -maxdepth 1 -name 'core*' -size +0 ! -name core-told | head -n 1)
	if [ -z "$core" ]; then
		echo "$program: core file not tested: there is none"
		return
	fi
	printf '%s' "$look" | debug "$output" "$program" "$core"
	check_suspended
	rm -f "$core"
}

# The script goes by the library's types, which are in its debug information only, be it in the program or in a library that is loaded with it.
if gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'break main' -ex run -ex 'info line coro_main' "$1" 2>&1 |
	grep -Eq '^No line number information|^Function "coro_main" not defined'; then
	echo "skipped: no debug information, as in builds of type release, minsize or plain"
	exit 77
fi

for program; do
	program=$(realpath "$program") # it is run in another folder, too
	check_live
	check_core
	[ $status -eq 0 ] || cat "$output"
done
exit $status
