# SPDX-License-Identifier: BSD-3-Clause
"""`make clean` takes away all that the other targets make, and nothing else."""
import re
import shutil

import pytest

from conftest import ROOT, run

CROSS = re.findall(r"^(\w+)\) triplet=", (ROOT / "scripts/cross").read_text(), re.M)
FOLDERS = sorted({*re.findall(r"\bbuild-[a-z0-9]+\b", (ROOT / "scripts/test").read_text()), "build", "build-fuzz",
                  *(f"build-{machine}" for machine in CROSS)})
OUTPUTS = re.findall(r"\bout/[^}\s]+", (ROOT / "examples/forward.yaml").read_text())


@pytest.fixture
def tree(tmp_path):
    """What `make clean` looks at, and what the user has there."""
    shutil.copy2(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in ("bench/sim/model.py", "scripts/setup", "tests/e2e/test_it.py", "lib/__pycache__", "build-mine/weir"):
        touch(tmp_path / name)
    return tmp_path


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")


def files(tree):
    return sorted(str(path.relative_to(tree)) for path in tree.rglob("*"))


def make_all(tree):
    """As if all targets had been made."""
    for name in FOLDERS:
        touch(tree / name / "file")
    for name in ("bench/sim", "scripts", "tests/e2e", "tests/build"):
        touch(tree / name / "__pycache__/conftest.cpython-311.pyc")
    for name in OUTPUTS:
        touch(tree / name)


def clean(tree):
    done = run("make", "-C", tree, "clean")
    assert done.returncode == 0, done.stdout


def test_it_knows_what_is_made():
    assert {"build", "build-asan", "build-tsan", "build-clang", "build-generic", "build-fcontext", "build-fuzz",
            "build-aarch64", "build-riscv64"} <= set(FOLDERS)
    assert len(OUTPUTS) == 6


def test_all_that_was_made_goes(tree):
    (tree / "tests/build").mkdir()
    before = files(tree)
    make_all(tree)
    clean(tree)
    assert files(tree) == before


def test_what_is_the_users_stays(tree):
    make_all(tree)
    for name in ("out/mine.pcap", "out/north.pcap.gz", "build.log", "out/out/north.pcap"):
        touch(tree / name)
    clean(tree)
    assert {"out/mine.pcap", "out/north.pcap.gz", "out/out/north.pcap", "build.log", "build-mine/weir"} <= set(files(tree))
    assert "out/north.pcap" not in files(tree)


def test_twice_and_of_nothing(tree):
    before = files(tree)
    clean(tree)
    clean(tree)
    assert files(tree) == before
