# SPDX-License-Identifier: BSD-3-Clause
"""Frames of every kind that is refused, and odd ones that are not, group by group."""
import pytest

import packets
import pcapfile
from network import Expected, check
from networks import laboratory

GROUPS = {"ip4_addresses": packets.ip4_addresses, "ip4_headers": packets.ip4_headers, "ip4_sizes": packets.ip4_sizes,
          "ip6_addresses": packets.ip6_addresses, "ip6_headers": packets.ip6_headers, "layer2": packets.layer2,
          "cut_short": packets.cut_short, "noise": lambda: packets.noise(5000)}


def records(generator):
    """Records a microsecond apart, with the name of each by its time."""
    made, names = [], {}
    for number, (name, frame, *missing) in enumerate(generator):
        time_ns = 1_700_000_000_000_000_001 + 1000 * number
        made.append(pcapfile.record(bytes(frame), time_ns, (missing or [0])[0]))
        names[time_ns] = name
    return made, names


def told_apart(network, names):
    """For each frame that fared differently: what happened to it and what should have."""
    expected, differences = Expected(network), []
    places = [(name, [r for s in expected.sent[name].values() for r in s], network.folder / f"{name}.pcap")
              for name in network.outputs]
    places.append(("punt", list(expected.punted.elements()), network.folder / "punt.pcap"))
    for place, wanted, path in places:
        got = pcapfile.read(path)
        differences += [f"{names[r.time_ns]}: should be at {place}" for r in wanted if r not in got]
        differences += [f"{names[r.time_ns]}: should not be (so) at {place}" for r in got if r not in wanted]
    return sorted(set(differences))


@pytest.mark.parametrize("accept", ["own", "any"])
@pytest.mark.parametrize("group", GROUPS)
def test_group(tmp_path, group, accept):
    made, names = records(GROUPS[group]())
    path = pcapfile.write(tmp_path / "in.pcap", made)
    network = laboratory(tmp_path, {"in": (path, {"accept": accept})})
    try:
        check(network)
    except AssertionError as error:
        raise AssertionError("\n".join([str(error)] + told_apart(network, names)[:60]))


def test_truncated_records_are_counted(tmp_path):
    made, _ = records(packets.cut_short())
    network = laboratory(tmp_path, {"in": pcapfile.write(tmp_path / "in.pcap", made)})
    report = check(network)
    assert report["ports"][0]["rx_truncated"] == sum(r.wire > len(r.data) for r in made) > 100
