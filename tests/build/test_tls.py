# SPDX-License-Identifier: BSD-3-Clause
"""Code that runs on coroutines, compiled as weir.pc says, asks for what belongs to its thread anew after each
yield; and why there are functions for the rest. On the generated code: that a compiler did right
once, in a test that ran, says little."""
import platform
import re
import shutil

import pytest

from conftest import ROOT, pkg_config, run
from test_install import flags, installed, libdir  # noqa: F401 (fixtures)

pytestmark = [pytest.mark.skipif(platform.machine() != "x86_64", reason="reads assembler of x86-64"),
              pytest.mark.xdist_group("install")]

PROBE = ROOT / "tests/build/tls/probe.c"
TLS_MODEL = "-ftls-model=initial-exec"
GOOD = ["good_lcore_id", "good_rte_errno", "good_theirs", "good_ours"]
KEPT = ["kept_errno", "kept_element"]
ASKED = ["asked_errno", "asked_dpdk", "asked_element"]
# What a switch takes back of clang's base register is as it was before.
KEPT_BY_SWITCH = re.compile(r"movq?\s+(240|248)\(%rdi\), %rbx")
# Functions that return something of the thread that runs.
ACCESSORS = re.compile(r"(weir_coro_|accessor_)\w+")


@pytest.fixture(params=["gcc", "clang"])
def compiler(request):
    if not shutil.which(request.param):
        pytest.skip(f"no {request.param}")
    return request.param


def functions(text):
    """Instructions, labels and looks of each function in assembler text, without directives."""
    found, lines = {}, None
    for line in text.splitlines():
        line = line.strip()
        name = re.match(r"(\w+)(\.\w+)*:", line)
        if name and re.search(rf"\.type\s+{re.escape(line[:line.index(':')])}, *@function", text):
            lines = found.setdefault(name.group(1), [])
        elif line.startswith(".cfi_endproc"):
            lines = None
        elif lines is not None and line and (line.startswith(("# look", ".L")) or not line.startswith((".", "#"))):
            lines += re.split(r"\s*;\s*", line) if not line.startswith("#") else [line]
    return found


def register(name):
    """The whole register that this is a part of: %eax, %ax, %al: rax."""
    name = name.lstrip("%")
    wide = re.fullmatch(r"(r\d+)[dwb]?", name)
    if wide:
        return wide.group(1)
    short = re.sub(r"^[er]|[xlh]$", "", name)
    return "r" + short + ("x" if len(short) == 1 else "")


def fault_of_look(lines, at):
    """Walk back from a look to where its value came from."""
    operand = lines[at].split()[2]
    if not operand.startswith("%"):
        return None if operand.startswith("%fs:") else f"{operand} is no register"
    wanted = register(operand)
    for line in reversed(lines[:at]):
        called = re.match(r"call\w*\s+\*?(\w+)", line)
        if called:
            if wanted == "rax" and ACCESSORS.fullmatch(called.group(1)):
                return None
            return f"from before a call of {called.group(1)}" if wanted != "rax" else f"{called.group(1)} returns it"
        if re.match(r"endbr64|jmp", line):
            return "from before a switch"
        if KEPT_BY_SWITCH.fullmatch(line):
            continue
        written = re.match(r"(\w+)\s+(?:(.*),\s*)?%(\w+)$", line)
        if not written or register(written.group(3)) != wanted or re.match(r"cmp|test|push", written.group(1)):
            continue
        if "%fs:" in (written.group(2) or ""):
            return None
        copied = re.fullmatch(r"%(\w+)", written.group(2) or "")
        if not (written.group(1).startswith("mov") and copied):
            return f"from '{line}'"
        wanted = register(copied.group(1))
    return "from before"


def faults(lines):
    """What is wrong with a function."""
    found = []
    for at, line in enumerate(lines):
        if re.search(r"__tls_get_addr|@tls[gl]d", line, re.I):
            found.append("asks for an address: " + line)
        elif re.search(r"%fs:0(?:x0)?(?![\w(])", line):
            found.append("makes an address: " + line)
        elif line.startswith("# look"):
            fault = fault_of_look(lines, at)
            if fault:
                found.append(f"{line}: {fault}")
    return found


def compiled(folder, compiler, arguments):
    out = folder / "probe.s"
    done = run(compiler, "-std=gnu11", "-fPIC", "-O3", "-Wall", "-Werror", "-Wno-unused-command-line-argument",
               *arguments, "-S", PROBE, "-o", out)
    assert done.returncode == 0, done.stdout
    found = functions(out.read_text())
    assert set(GOOD + KEPT + ASKED) <= set(found)
    for name in GOOD + KEPT + ASKED:
        looks = sum(line.startswith("# look") for line in found[name])
        switches = sum(line.startswith("jmp") and "*" in line for line in found[name])
        assert looks >= 1 and switches >= 1, name
    return {name: faults(found[name]) for name in found}


def test_flags_right(tmp_path, flags, compiler):
    """What weir.pc says is enough for what is read and written in place."""
    assert TLS_MODEL in flags
    found = compiled(tmp_path, compiler, flags)
    assert {name: found[name] for name in GOOD} == {name: [] for name in GOOD}


def test_flags_needed(tmp_path, flags, compiler):
    """Without it, it is not; nor does the test above pass whatever there is."""
    found = compiled(tmp_path, compiler, [flag for flag in flags if flag != TLS_MODEL])
    for name in GOOD:
        assert any("__tls_get_addr" in fault for fault in found[name]), name


def test_kept(tmp_path, flags, compiler):
    """Addresses are kept over a yield in spite of it: the reason for the functions. A compiler that no longer did
    so would be no fault, but the documentation would be wrong about it."""
    found = compiled(tmp_path, compiler, flags)
    assert found["kept_element"][-1].endswith("from before a switch")
    lines = functions((tmp_path / "probe.s").read_text())
    assert sum("__errno_location" in line for line in lines["kept_errno"]) == 1  # for three uses
    assert sum("call" in line and "weir_coro_errno" in line for line in lines["asked_errno"]) == 2


@pytest.mark.parametrize("model", [[], [TLS_MODEL]], ids=["plain", "initial-exec"])
def test_asked(tmp_path, flags, compiler, model):
    """The functions are asked anew each time, with the flags and without."""
    found = compiled(tmp_path, compiler, [flag for flag in flags if flag != TLS_MODEL] + model)
    assert {name: found[name] for name in ASKED} == {name: [] for name in ASKED}


def test_library(installed):
    """The library itself: its thread-locals are found without a call, and in what switches a compiler makes no address of one
    (weir_coro_thread_here() does, by other instructions: for one switch, and never for after it)."""
    shared = libdir(installed) / "libweir.so"
    undefined = run("nm", "-D", "--undefined-only", shared).stdout
    assert "rte_" in undefined
    assert "__tls_get_addr" not in undefined
    text = run("objdump", "-d", "--no-show-raw-insn", shared).stdout
    # A switch jumps away, and comes back to what is behind that.
    switching = [block for block in text.split("\n\n") if re.search(r"jmp\s+\*[^\n]*\n[^\n]*endbr64", block)]
    assert any("weir_coro_resume_checked" in block.split("\n")[0] for block in switching)
    for block in switching:
        assert not re.search(r"%fs:0x0(?![\w(])", block), block


def test_library_without(installed):
    """The test of the library can fail: another one that has no such flag."""
    [eal] = pkg_config("--variable=libdir", "libdpdk")
    assert "__tls_get_addr" in run("nm", "-D", "--undefined-only", f"{eal}/librte_eal.so").stdout
