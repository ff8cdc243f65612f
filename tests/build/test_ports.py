# SPDX-License-Identifier: BSD-3-Clause
"""Other machines, and the switch of coroutines that they have: what builds for them fails where a source is broken for
them alone, and users of the library switch as it does."""
import os
import shutil

import pytest

from conftest import ROOT, meson, pkg_config, run

SWITCH = "weir_coro_switch_fcontext"
USER = "#include <weir_coro.h>\nvoid user(struct weir_coro *coro) { weir_coro_resume(coro); }\n"


@pytest.mark.parametrize("option,by_boost", [("auto", False), ("fcontext", True)])
def test_users_switch_as_the_library_does(tmp_path, option, by_boost):
    done = meson("setup", tmp_path / "build", ROOT, f"-Dcoro_switch={option}", "-Dtests=false")
    assert done.returncode == 0, done.stdout
    folder = tmp_path / "build" / "meson-private"
    flags = [f"-I{ROOT}/lib/base", f"-I{ROOT}/lib/coro", *pkg_config("--cflags", "weir", path=folder)]
    source = tmp_path / "user.c"
    source.write_text(USER)
    done = run("gcc", "-O2", *flags, "-c", source, "-o", tmp_path / "user.o")
    assert done.returncode == 0, done.stdout
    assert (SWITCH in run("nm", tmp_path / "user.o").stdout) == by_boost
    private = (folder / "weir.pc").read_text()
    assert ("boost_context" in private) == by_boost


@pytest.fixture
def copied(tmp_path):
    """The tree, to be spoiled."""
    copy = tmp_path / "tree"
    names = run("git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard").stdout.splitlines()
    for name in names:
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    return copy


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("riscv64-linux-gnu-gcc") or not shutil.which("qemu-riscv64"),
                    reason="scripts/setup check has not been run")
def test_broken_for_another_machine(copied):
    env = {key: value for key, value in os.environ.items() if key not in ("CC", "CFLAGS")}
    done = run(copied / "scripts/cross", "riscv64", env=env)
    assert done.returncode == 0 and "sources compiled" in done.stdout.splitlines()[-1], done.stdout
    source = copied / "lib/coro/fcontext.c"
    source.write_text(source.read_text() + "#if defined(__riscv)\nint broken = here;\n#endif\n")
    done = run(copied / "scripts/cross", "riscv64", env=env)
    assert done.returncode != 0 and done.stdout.splitlines()[-1] == "cross: does not build for riscv64", done.stdout


def test_machines_have_names():
    done = run(ROOT / "scripts/cross", "pdp11")
    assert done.returncode != 0 and "aarch64|ppc64le|riscv64" in done.stdout
