#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# same-output.sh FILE COMMAND...: does the command print what the file holds?
file=$1
shift
if "$@" | diff -u "$file" -; then
	exit 0
fi
echo "$file is out of date: $* > $file" >&2
exit 1
