# SPDX-License-Identifier: BSD-3-Clause
"""The API reference is made of documented headers, and refuses others."""
import pytest

from conftest import ROOT, run

GOOD = """/**
 * @file
 * One.
 */

/** One, always. */
#define WEIR_BASE_ONE 1

/** A pair. */
struct weir_base_pair {
	int first; /**< the first */
};

/**
 * Add up.
 *
 * @param first  a number
 * @return the sum
 */
int weir_base_add(int first, int second);
"""


@pytest.fixture
def docs(tree):
    def make(content):
        tree.c("lib/base/weir_base.h", content)
        for name in ("lib/graph/weir_graph.h", "lib/node/weir_node.h", "lib/sched/weir_sched.h"):
            tree.c(name)
        tree.write("doc/guide.md", "# The guide\n\nSee weir_base_add(), ::1 and [limits](#some-limits).\n\n"
                   "## Some limits\n\n```\n# no heading\n```\n\n## Some limits\n\n[x](#some-limits-1)\n")
        tree.write("README.md", "# Weir\n\nRead me. [Limits](doc/guide.md#some-limits), [guide](doc/guide.md).\n")
        return run(ROOT / "scripts/docs", tree.root)
    make.root = tree.root
    return make


def test_documented(docs):
    done = docs(GOOD)
    assert done.returncode == 0, done.stdout
    html = docs.root / "build/docs/html"
    assert (html / "index.html").is_file()
    pages = " ".join(page.read_text(errors="replace") for page in html.glob("*.html"))
    for word in ("weir_base_add", "weir_base_pair", "WEIR_BASE_ONE", "The guide", "Read me."):
        assert word in pages


@pytest.mark.parametrize("before,after,words", [
    ("/** One, always. */\n", "", "WEIR_BASE_ONE"),
    ("/** A pair. */\n", "", "weir_base_pair"),
    (" /**< the first */", "", "first"),
    ("@param first ", "@param frist ", "frist"),
    ("int weir_base_add(", "int weir_base_more(int first);\nint weir_base_add(", "weir_base_add"),
])
def test_undocumented(docs, before, after, words):
    assert before in GOOD
    done = docs(GOOD.replace(before, after))
    assert done.returncode != 0
    assert words in done.stdout
