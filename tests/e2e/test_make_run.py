# SPDX-License-Identifier: BSD-3-Clause
"""`make run` in a copy of the tree: what a newcomer sees first."""
import copy
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest

import pcapfile
from network import Expected, assert_same_records
from networks import EXAMPLES, INTERNET_ROUTES, NEIGHBOURS, captures
from program import CRASH, ROOT, SLOW, WEIR

pytestmark = pytest.mark.xdist_group("internet")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of what git knows, with a repository of its own, and the program as it was built."""
    where = tmp_path_factory.mktemp("tree") / "weir"
    git = ["git", "-c", "safe.directory=*", "-c", "user.name=test", "-c", "user.email=test@localhost"]
    listed = subprocess.run([*git, "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (where / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, where / name)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "copy"]):
        subprocess.run([*git, "-C", where, *command], check=True, capture_output=True)
    return where


@pytest.fixture(scope="module")
def made(tree):
    """Only the last line of the recipe is run, with the program under test: compiling is tested by every build."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    recipe = subprocess.run(["make", "-n", "run"], cwd=tree, capture_output=True, text=True, check=True, env=env).stdout
    assert recipe.strip().splitlines()[-1] == "build/weir run examples/forward.yaml"
    if os.environ.get("WEIR_TEST_LONG"):
        command = ["make", "run"]
    else:
        (tree / "build").mkdir()
        (tree / "build/weir").symlink_to(WEIR)
        command = ["build/weir", "run", "examples/forward.yaml"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=300 * SLOW, env=env)
    assert done.returncode == 0 and not CRASH.search(done.stderr), done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def routes(tree, internet):
    """The routes of the example: the Internet's, and those that it holds itself."""
    table = copy.deepcopy(internet)
    text = (tree / "examples/forward.yaml").read_text()
    for prefix, hop in re.findall(r'^ +- \{prefix: "?([0-9a-f.:/]+)"?, next_hop: (\d+)\}', text, re.M):
        table.add(prefix, int(hop))
    return table


def test_table(made, routes):
    for words in ("uplink", "north", "dropped", "punted", "6.72", "cycles/packet", "packets/call", "ip4_rewrite",
                  f"{len(routes.tables[4]):,} IPv4", f"{len(routes.tables[6]):,} IPv6"):
        assert words in made.stdout, words
    total, = re.findall(r"^ *([\d,]+) in = ([\d,]+) out \+ ([\d,]+) dropped \+ ([\d,]+) punted$", made.stdout, re.M)
    received, *rest = (int(n.replace(",", "")) for n in total)
    assert received == sum(rest) == 4096 + 161


def test_files(made, tree, routes, tmp_path):
    """The forwarded packets, and those punted, are what the reference computes."""
    network = captures(tmp_path, {"uplink": EXAMPLES / "isp-mix-vlan.pcap", "uplink6": EXAMPLES / "ipv6-mix.pcap"},
                       routes=INTERNET_ROUTES, neighbours=NEIGHBOURS, table=routes)
    expected = Expected(network)
    for port in network.outputs:
        sent = pcapfile.read(tree / f"out/{port}.pcap")
        assert len(sent) > 400
        assert_same_records(sent, [r for s in expected.sent[port].values() for r in s], port)
    assert_same_records(pcapfile.read(tree / "out/punt.pcap"), expected.punted.elements(), "punt")


def test_picture(made, tree):
    svg = xml.etree.ElementTree.parse(tree / "out/forward.svg")
    texts = {element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert {"4,096", "161", "3,936", "321"} <= texts, "counts of edges"


def test_tree_is_left_clean(made, tree):
    status = subprocess.run(["git", "-c", "safe.directory=*", "-C", tree, "status", "--porcelain"],
                            capture_output=True, text=True, check=True).stdout
    assert status == ""
