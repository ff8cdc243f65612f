# SPDX-License-Identifier: BSD-3-Clause
"""Every public header compiles alone, as C and as C++, without warnings; DPDK's
own headers are system headers."""
import pytest

from conftest import ROOT, pkg_config, run

HEADERS = sorted((ROOT / "lib").glob("*/weir_*.h"))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# "-include rte_config.h" comes from DPDK's pkg-config file.
COMPILERS = [
    ("gcc", "-x", "c", "-std=gnu11", "-Wstrict-prototypes"),
    ("clang", "-x", "c", "-std=gnu11", "-Wstrict-prototypes"),
    ("g++", "-x", "c++", "-std=c++17"),
]


def system_flags():
    flags = []
    for flag in pkg_config("--cflags", "libdpdk", "jansson"):
        flags += ["-isystem", flag[2:]] if flag.startswith("-I") else [flag]
    return flags


def test_there_are_headers():
    assert len(HEADERS) >= 8


@pytest.mark.parametrize("compiler", COMPILERS, ids=lambda c: c[0])
@pytest.mark.parametrize("header", HEADERS, ids=lambda h: h.name)
def test_compiles_alone(tmp_path, header, compiler):
    source = tmp_path / "alone.c"
    source.write_text(f'#include "{header.name}"\n#include "{header.name}"\nint weir_alone = 1;\n')
    includes = [f"-I{folder}" for folder in sorted({h.parent for h in HEADERS})]
    done = run(*compiler, *WARNINGS, "-O2", *includes, *system_flags(), "-fsyntax-only", source)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("header", HEADERS, ids=lambda h: h.name)
def test_names(header):
    """What a public header defines begins with weir_MODULE_, and it is for C++ too."""
    text = header.read_text()
    module = header.parent.name
    assert header.name.startswith(f"weir_{module}")
    assert 'extern "C"' in text or "(" not in text.split("#include")[-1]
    assert "typedef struct" not in text


def test_a_warning_fails(tmp_path):
    """The test above can fail."""
    source = tmp_path / "bad.c"
    source.write_text("static inline int\nf(void)\n{\n\tint unused;\n\treturn (unsigned)1 > -1;\n}\nint a;\n")
    assert run("gcc", *WARNINGS, *system_flags(), "-fsyntax-only", source).returncode != 0
