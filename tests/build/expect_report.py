#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""expect_report.py TEXT PROGRAM [ARGUMENT]...: PROGRAM must fail, and say TEXT on stderr."""
import subprocess
import sys

text, *program = sys.argv[1:]
done = subprocess.run(program, capture_output=True, text=True, errors="replace")
if done.returncode == 0:
    sys.exit(f"{program[-1]} ended well, but a sanitizer should have stopped it")
if text not in done.stderr:
    sys.exit(f"{program[-1]} failed ({done.returncode}), but did not say '{text}':\n{done.stderr}")
