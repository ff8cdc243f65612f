# SPDX-License-Identifier: BSD-3-Clause
"""What `make install` installs is complete, and programs in C and C++ build
against it by pkg-config, and run."""
import os
import re
import shutil

import pytest

from conftest import ROOT, pkg_config, run

pytestmark = pytest.mark.xdist_group("install")  # it is done by the build directory

CONSUMER = ROOT / "tests/build/consumer/consumer.c"
VERSION = re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text()).group(1)


def install(destdir, prefix="/usr/local"):
    env = {k: v for k, v in os.environ.items() if k not in ("DESTDIR", "PREFIX", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    done = run("make", "-C", ROOT, "install", f"DESTDIR={destdir}", f"PREFIX={prefix}", env=env)
    assert done.returncode == 0, done.stdout
    return destdir / prefix.lstrip("/")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return install(tmp_path_factory.mktemp("installed"))


def libdir(installed):
    [shared] = installed.glob("lib*/**/libweir.so")
    if os.path.exists("/etc/debian_version"):  # where Debian's linker looks
        multiarch = run("gcc", "-print-multiarch").stdout.strip()
        assert shared.parent == installed / "lib" / multiarch
    return shared.parent


@pytest.fixture(scope="module")
def flags(installed):
    """Compiler and linker flags of weir.pc, which is told where it was staged."""
    pc = libdir(installed) / "pkgconfig" / "weir.pc"
    text = pc.read_text()
    pc.write_text(re.sub(r"^prefix=.*", f"prefix={installed}", text, flags=re.M))
    return pkg_config("--cflags", "--libs", "weir", path=pc.parent)


def test_library_files(installed):
    lib = libdir(installed)
    soname = f"libweir.so.{VERSION.split('.')[0]}"
    assert os.readlink(lib / "libweir.so") == soname
    assert os.readlink(lib / soname) == f"libweir.so.{VERSION}"
    assert (lib / "libweir.a").is_file()
    assert f"[{soname}]" in run("readelf", "-d", lib / "libweir.so").stdout


def test_public_names_only(installed):
    listed = run("nm", "-D", "--defined-only", libdir(installed) / "libweir.so").stdout.splitlines()
    names = {line.split()[-1].split("@")[0] for line in listed}
    assert {"weir_graph_create", "weir_graph_cluster_export", "weir_node_prepare", "weir_base_log"} <= names
    assert sorted(name for name in names if not name.startswith("weir_")) == []


def test_headers(installed):
    public = {h.name for h in (ROOT / "lib").glob("*/weir_*.h")}
    assert {h.name for h in (installed / "include/weir").iterdir()} == public


def test_program(installed):
    done = run(installed / "bin/weir", "version")
    assert done.returncode == 0 and VERSION in done.stdout


def test_pkg_config(flags, installed):
    assert "-ftls-model=initial-exec" in flags
    assert f"-I{installed}/include/weir" in flags and "-lweir" in flags
    pc = libdir(installed) / "pkgconfig"
    requires = pkg_config("--print-requires", "weir", path=pc)
    assert "libdpdk" in requires and "jansson" in requires
    assert pkg_config("--modversion", "weir", path=pc) == [VERSION]


@pytest.mark.parametrize("compiler,standard", [("gcc", "gnu11"), ("clang", "gnu11"), ("g++", "c++17"), ("g++", "c++20")])
def test_consumer(tmp_path, installed, flags, compiler, standard):
    source = tmp_path / ("consumer.cpp" if "++" in compiler else "consumer.c")
    shutil.copy(CONSUMER, source)
    program = tmp_path / "consumer"
    done = run(compiler, f"-std={standard}", "-O2", "-Wall", "-Wno-missing-field-initializers", "-Werror",
               source, "-o", program, *flags)
    assert done.returncode == 0, done.stdout
    done = run(program, env=dict(os.environ, LD_LIBRARY_PATH=str(libdir(installed))))
    assert done.returncode == 0, done.stdout
    assert "walked, at some rate" in done.stdout
    assert f"libweir.so.{VERSION.split('.')[0]}" in run("readelf", "-d", program).stdout


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_coro_example(tmp_path, installed, flags, compiler):
    """As its comment, and doc/coro.md, say."""
    program = tmp_path / "primes"
    done = run(compiler, "-O2", "-Wall", "-Wextra", "-Werror", ROOT / "examples/coro/primes.c", "-o", program, *flags)
    assert done.returncode == 0, done.stdout
    done = run(program, env=dict(os.environ, LD_LIBRARY_PATH=str(libdir(installed))))
    assert done.returncode == 0, done.stdout
    shown = re.search(r"^\$ \./primes\n(.*?)```", (ROOT / "doc/coro.md").read_text(), re.M | re.S).group(1)
    # What guards stacks is the kernel's.
    assert done.stdout.splitlines()[-1] == shown.splitlines()[-1]


def test_prefix(tmp_path):
    try:
        there = install(tmp_path, "/opt/weir")
        assert list(there.glob("lib/**/libweir.so")) and (there / "include/weir/weir_base.h").is_file()
        [pc] = there.glob("lib/**/weir.pc")
        assert "prefix=/opt/weir\n" in pc.read_text()
        assert os.listdir(tmp_path) == ["opt"]
    finally:
        install(tmp_path / "back")
