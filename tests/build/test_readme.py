# SPDX-License-Identifier: BSD-3-Clause
"""README and the guide say what the other documents, examples and the program say."""
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
WEIR = pathlib.Path(os.environ.get("WEIR_PROGRAM") or os.environ.get("WEIR") or ROOT / "build" / "weir")


def blocks(language):
    """Every second fence closes a block."""
    pieces = re.split(r"^```(.*)\n", README, flags=re.MULTILINE)
    return [text for opened, text in zip(pieces[1::4], pieces[2::4]) if opened == language]


def test_node_is_the_one_that_is_compiled():
    assert blocks("c")[0] in (ROOT / "doc" / "graph.md").read_text(encoding="utf-8")


def test_coroutines_begin_with_the_example():
    source = (ROOT / "examples" / "coro" / "primes.c").read_text(encoding="utf-8")
    program = re.search(r"^```c\n(.*?)^```", (ROOT / "doc" / "coro.md").read_text(encoding="utf-8"), re.M | re.S).group(1)
    assert source.endswith(program) and program.startswith("#include")


def test_comparison_is_what_the_benchmarks_printed():
    printed = (ROOT / "doc" / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    tables = [block for block in blocks("") if block.startswith("$ weir bench")]
    assert len(tables) == 3
    for line in "".join(tables).splitlines():
        assert line in printed or line.startswith("$ weir bench"), line


def test_links_lead_somewhere():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", README):
        assert (ROOT / target).exists(), target


@pytest.mark.xdist_group("install")  # which may build it anew
@pytest.mark.skipif(not WEIR.exists(), reason="the program is not built")
def test_packets_of_the_main_job(tmp_path):
    """All but times and cycles are the same on every machine."""
    shown = next(block for block in blocks("") if block.startswith("$ make run"))
    done = subprocess.run([WEIR.resolve(), "run", ROOT / "examples" / "forward.yaml"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=120, check=True)
    counts = [line for line in shown.splitlines() if re.match(r"  (in|out|dropped|punted) |  [\d,]+ in = ", line)]
    assert len(counts) > 10
    for line in counts:
        assert line in done.stdout.splitlines(), done.stdout
