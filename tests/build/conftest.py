# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the tooling share."""
import os
import pathlib
import shlex
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, env=None, cwd=None, text_in=None):
    """Run to the end; output as text, stderr behind stdout."""
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", env=env, cwd=cwd, input=text_in if text_in is not None else "")


def shell_function(function, *args, env=None):
    """Call a function of scripts/common.sh."""
    call = " ".join(shlex.quote(str(a)) for a in (function, *args))
    return run("bash", "-c", f". {shlex.quote(str(ROOT / 'scripts/common.sh'))}; {call}", env=env)


def meson(*args):
    return shell_function("meson", *args)


class Tree:
    """A small tree that passes every check of the sources; tests spoil it."""
    SPDX = "/* SPDX-License-Identifier: BSD-3-Clause */\n"

    def __init__(self, root):
        self.root = root
        self.write(".clang-format", (ROOT / ".clang-format").read_text())
        self.c("lib/base/weir_base.h", "int weir_base_one(void);\n")
        self.c("lib/base/base.c", '#include "weir_base.h"\n\nint\nweir_base_one(void)\n{\n\treturn 1;\n}\n')
        self.c("lib/base/base_private.h")
        self.c("lib/graph/weir_graph.h", '#include "weir_base.h"\n')
        self.c("lib/graph/graph.c", '#include <stdio.h>\n#include "weir_graph.h"\n#include "graph_private.h"\n')
        self.c("lib/graph/graph_private.h")
        self.c("lib/node/weir_node.h", "#include <weir_graph.h>\n")
        self.c("lib/sched/weir_sched.h")
        self.c("app/app.h")
        self.c("app/main.c", '#include "app.h"\n#include "weir_node.h"\n#include <weir_sched.h>\n')

    def write(self, name, content):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def c(self, name, content=""):
        return self.write(name, self.SPDX + content)


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path / "tree")


@pytest.fixture
def check(tree):
    """check(NAME): run scripts/check-NAME on the planted tree."""
    def call(name):
        return run(ROOT / "scripts" / f"check-{name}", tree.root)
    return call


def pkg_config(*args, path=None):
    env = dict(os.environ)
    if path:
        env["PKG_CONFIG_PATH"] = str(path)
    done = run("pkg-config", *args, env=env)
    assert done.returncode == 0, done.stdout
    return shlex.split(done.stdout)
