# SPDX-License-Identifier: BSD-3-Clause
"""Real captures: every packet that leaves is, byte for byte, what the reference computes, on the port that
the longest prefix says, with the time it came; every other one is counted under its reason."""
import pytest

from network import check
from networks import CAPTURES, DATA, EXAMPLES, INTERNET_ROUTES, NEIGHBOURS, VARIED, captures


@pytest.mark.parametrize("name", CAPTURES)
def test_capture(tmp_path, name):
    """One capture to ports of different MTU and VLAN, by a thousand routes."""
    report = check(captures(tmp_path, {"in": CAPTURES[name]}, VARIED))
    assert report["packets"]["in"] > 0


@pytest.mark.parametrize("workers", [1, 3])
def test_all_captures_with_the_full_tables(tmp_path, internet, workers):
    """All at once, over the whole Internet's routes."""
    inputs = {name.replace("-", "_"): path for name, path in CAPTURES.items()}
    names = list(inputs)
    network = captures(tmp_path, inputs, VARIED, routes=INTERNET_ROUTES, neighbours=NEIGHBOURS, table=internet,
                       platform={"workers": [{"receive": names[i::workers]} for i in range(workers)]})
    report = check(network)
    assert report["routes"]["ip4"] == len(internet.tables[4]) and report["routes"]["ip6"] == len(internet.tables[6])
    assert report["packets"]["out"] > 2000 and report["packets"]["fragmented"] > 20


def test_capture_names_are_those_of_both_folders():
    """No capture hides another of the same name."""
    assert len(CAPTURES) == len(list(EXAMPLES.glob("*.pcap"))) + len(list(DATA.glob("*.pcap")))
