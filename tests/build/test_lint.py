# SPDX-License-Identifier: BSD-3-Clause
"""Each check of the sources passes a good tree, and fails on a planted violation."""
import pytest

from conftest import ROOT, run

CHECKS = ["format", "arrows", "tree", "static"]


def refused(done, *words):
    assert done.returncode != 0, done.stdout
    for word in words:
        assert word in done.stdout


@pytest.mark.parametrize("name", CHECKS)
def test_good_tree_passes(check, name):
    done = check(name)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("content", [
    "int\nmain(void)\n{\n    return 0;\n}\n",
    "int main(void)\n{\n\treturn 0;\n}\n",
    "int\nmain(void) {\n\treturn 0;\n}\n",
])
def test_format(tree, check, content):
    tree.c("app/bad.c", content)
    refused(check("format"), "app/bad.c")


def test_format_fix(tree, check):
    tree.c("app/bad.c", "int\nmain(void)\n{\n    return 0;\n}\n")
    assert run(ROOT / "scripts/check-format", "--fix", tree.root).returncode == 0
    assert check("format").returncode == 0


@pytest.mark.parametrize("name,line,words", [
    ("lib/base/up.c", '#include "weir_graph.h"', ["base may not use graph"]),
    ("lib/graph/up.h", '#include <weir_node.h>', ["graph may not use node"]),
    ("lib/graph/side.c", '  #  include "weir_sched.h"', ["graph may not use sched", "side.c:2"]),
    ("lib/node/side.c", '#include "weir_sched.h"', ["node may not use sched"]),
    ("lib/node/path.c", '#include "../sched/weir_sched.h"', ["node may not use sched"]),
    ("lib/node/private.c", '#include "../graph/graph_private.h"', ["private to graph"]),
    ("lib/node/private.c", '#include "base_private.h"', ["private to base"]),
    ("lib/graph/upstairs.c", '#include "../../app/app.h"', ["may not include app/app.h"]),
    ("lib/sim/dpdk.c", '#include <rte_mbuf.h>', ["sim must do without DPDK"]),
    ("lib/attic/attic.c", '#include "weir_base.h"', ["no module"]),
])
def test_arrows(tree, check, name, line, words):
    tree.c(name, line + "\n")
    refused(check("arrows"), *words)


@pytest.mark.parametrize("name,line", [
    ("lib/em/em.c", '#include "weir_sched.h"'),
    ("lib/node/node.c", '#include "weir_base.h"'),
    ("lib/node/node.c", '#include "weir_graph.h"'),
    ("lib/graph/dpdk.c", '#include <rte_mbuf.h>'),
    ("bench/bench.c", '#include "graph_private.h"'),
    ("tests/base/test.c", '#include "../../lib/base/base_private.h"'),
])
def test_arrows_allowed(tree, check, name, line):
    tree.c(name, line + "\n")
    done = check("arrows")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name,content", [
    ("lib/base/bare.c", "int a;\n"),
    ("tests/e2e/test_a.py", "import os\n"),
    ("scripts/tool", "#!/bin/sh\ntrue\n"),
    ("lib/base/meson.build", "\n\n\n# SPDX-License-Identifier: BSD-3-Clause\n"),
    ("examples/x.yaml", "# SPDX-License-Identifier: GPL-2.0\n"),
])
def test_spdx(tree, check, name, content):
    tree.write(name, content)
    refused(check("tree"), name, "SPDX")


@pytest.mark.parametrize("place", ["../" + "shared/data", "/" + "work/main/lib", "cd /" + "work"])
def test_outside(tree, check, place):
    tree.write("doc/a.md", f"See\n{place}\n")
    refused(check("tree"), "doc/a.md:2", "outside")


def test_inside_is_not_outside(tree, check):
    tree.write("doc/a.md", "platform/" + "workers, a/" + "work, /" + "worker, shared/data\n")
    assert check("tree").returncode == 0


def test_size(tree, check):
    for i in range(3):
        with open(tree.root / f"large{i}.bin", "wb") as file:
            file.truncate(7 * 1000 * 1000)
    refused(check("tree"), "21.0 MB")


@pytest.mark.parametrize("code,words", [
    ("rte_eal_init(0, NULL);", "rte_eal_init"),
    ("signal(SIGINT, stop);", "signals"),
    ("sigaction(SIGINT, &action, NULL);", "signals"),
])
def test_guests(tree, check, code, words):
    tree.c("lib/graph/bad.c", f"void\nf(void)\n{{\n\t{code}\n}}\n")
    refused(check("tree"), "lib/graph/bad.c:5", words)


def test_guests_may_talk_about_it(tree, check):
    tree.c("lib/graph/good.c", '/* never calls rte_eal_init() */\nconst char *s = "signal(2)";\n')
    assert check("tree").returncode == 0


def test_long_file_is_only_warned_of(tree, check):
    tree.c("lib/graph/long.c", "int a;\n" * 700)
    done = check("tree")
    assert done.returncode == 0
    assert "warning: lib/graph/long.c: 701 lines" in done.stdout


@pytest.mark.parametrize("code,words", [
    ("\tint a[2];\n\ta[2] = 0;\n\treturn a[2];", "arrayIndexOutOfBounds"),
    ("\tint *p = 0;\n\treturn *p;", "nullPointer"),
    ("\tint a;\n\treturn a;", "uninitvar"),
    ("\tchar *p = malloc(1);\n\treturn p == 0;", "memleak"),
])
def test_static(tree, check, code, words):
    tree.c("app/bad.c", f"#include <stdlib.h>\n\nint\nbad(void)\n{{\n{code}\n}}\n")
    refused(check("static"), "app/bad.c", words)


def test_only_tracked_files_count(tree, check):
    """With git, what is not tracked is not checked; what is, is."""
    git = ["git", "-C", tree.root, "-c", "user.name=t", "-c", "user.email=t@example.org"]
    assert run(*git, "init", "-q").returncode == 0
    assert run(*git, "add", ".").returncode == 0
    tree.write("lib/base/bare.c", "int a;\n")
    assert check("tree").returncode == 0
    assert run(*git, "add", "lib/base/bare.c").returncode == 0
    refused(check("tree"), "lib/base/bare.c")


def test_usage():
    done = run(ROOT / "scripts/check-tree", "--nonsense")
    assert done.returncode != 0 and "usage" in done.stdout
