# SPDX-License-Identifier: BSD-3-Clause
"""The command lines that Meson makes are those that were meant."""
import json
import os
import platform

import pytest

from conftest import ROOT, meson, shell_function

X86 = platform.machine() == "x86_64"


def commands(tmp_path, *options, compiler="gcc"):
    folder = tmp_path / "build"
    os.environ["CC"] = compiler
    try:
        done = meson("setup", folder, ROOT, *options)
    finally:
        del os.environ["CC"]
    assert done.returncode == 0, done.stdout
    entries = json.loads((folder / "compile_commands.json").read_text())
    assert len(entries) > 10
    return {entry["output"]: entry["command"].split() for entry in entries}


def last(command, start):
    found = [word for word in command if word.startswith(start)]
    return found[-1] if found else None


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_default(tmp_path, compiler):
    """Ours counts: DPDK's pkg-config file has a -march of its own."""
    for output, command in commands(tmp_path, compiler=compiler).items():
        # Valgrind does not know all instructions of recent CPUs; what the simulator computes does not depend on the CPU.
        untuned = "valgrind" in output or output.startswith("lib/sim/")
        assert last(command, "-march=") == (None if untuned else "-march=native"), output
        assert last(command, "-O") == "-O3", output
        assert "-Werror" in command and "-Wall" in command and "-Wextra" in command, output
        standard = "-std=gnu++17" if output.endswith(".cpp.o") else "-std=gnu11"
        assert "-ftls-model=initial-exec" in command and standard in command, output
        dpdk = [word for word in command if word.endswith("include/dpdk")]
        assert all(word.startswith("-isystem") for word in dpdk), output


def test_generic(tmp_path):
    for output, command in commands(tmp_path, "-Dplatform=generic").items():
        assert "-march=native" not in command and last(command, "-mtune=") != "-mtune=native", output
        if X86:
            assert last(command, "-march=") in ("-march=corei7", None), output
            assert not any(word.startswith(("-mavx", "-mbmi")) for word in command) or "avx" in output, output


def test_simulator_computes_as_written(tmp_path):
    """Floating point is not contracted, and not tuned to a CPU: a run is the same on every machine."""
    found = {output: command for output, command in commands(tmp_path).items() if output.startswith("lib/sim/")}
    assert len(found) > 10
    for output, command in found.items():
        assert last(command, "-ffp-contract=") == "-ffp-contract=off", output
        assert "-fno-fast-math" in command and last(command, "-march=") is None, output


@pytest.mark.parametrize("variable,words", [
    ("OPTIONS_ASAN", ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]),
    ("OPTIONS_TSAN", ["-fsanitize=thread", "-DRTE_FORCE_INTRINSICS", "-DRTE_USE_C11_MEM_MODEL"]),
])
def test_sanitizers(tmp_path, variable, words):
    options = shell_function("eval", f"echo ${variable}").stdout.split()
    assert options
    for output, command in commands(tmp_path, *options, compiler="clang").items():
        for word in words:
            assert word in command, output
