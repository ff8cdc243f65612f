# SPDX-License-Identifier: BSD-3-Clause
"""A Python that has SimPy or Ciw: the one of the tests, the distribution's, or that of scripts/bench-peers."""
import functools
import subprocess
import sys

from program import ROOT

PYTHONS = (sys.executable, "/usr/bin/python3", ROOT / "build" / "bench-peers" / "bin" / "python3")


@functools.lru_cache(maxsize=None)
def python_with(module):
    """None: there is none."""
    for python in PYTHONS:
        try:
            if subprocess.run([python, "-c", f"import {module}"], stdin=subprocess.DEVNULL, capture_output=True, timeout=120).returncode == 0:
                return python
        except OSError:
            continue
    return None
