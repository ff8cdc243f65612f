#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test_notice.sh BUG PROGRAM...: the model with a bug; one of the programs, which run on it, must fail.
# They are random and run for a while each: on a machine that gives them little of that, they get more turns.
bug=$1
shift
for program in "$@" "$@" "$@" "$@" "$@"; do
	# one that comes to a stop is to be told soon
	WEIR_TEST_WATCH=3 WEIR_SCHED_MODEL_BUG=$bug timeout -k 1 60 "$program" >/dev/null 2>&1
	status=$?
	case $status in
	0 | 77) ;;
	127) echo "$program is not to be had" && exit 1 ;;
	*) echo "$bug: noticed by $(basename "$program"), status $status" && exit 0 ;;
	esac
done
echo "$bug: not noticed"
exit 1
