# SPDX-License-Identifier: BSD-3-Clause
"""Where memory comes from: hugepages, where enough of them are free."""
import pathlib

import pytest

from network import assert_report_adds_up
from program import OK, USAGE, weir, write_description
from running import endless, mixture, start, unique_name, wait_for_packets

pytestmark = pytest.mark.exclusive  # hugepages are counted

NEEDED = 256 << 20  # more than these runs take


def free_hugepages():
    """Bytes of the class that has most of them."""
    classes = pathlib.Path("/sys/kernel/mm/hugepages").glob("hugepages-*kB")
    return max((int((path / "free_hugepages").read_text()) * int(path.name[10:-2]) << 10 for path in classes), default=0)


@pytest.mark.parametrize("huge", ["yes", "auto", "no"])
def test_hugepages(tmp_path, huge):
    """They are used while it runs, and are all free again afterwards."""
    free = free_hugepages()
    if huge == "yes" and free < NEEDED:
        pytest.skip(f"{free >> 20} MiB of hugepages are free, {NEEDED >> 20} are needed")
    network, name = endless(tmp_path, mixture()), unique_name()
    network.platform = {"memory": {"huge": huge}}
    with start(network, name) as instance:
        wait_for_packets(instance, name)
        used = free - free_hugepages()
        report = instance.stop().json()
    assert_report_adds_up(report)
    if huge == "no" or free >= NEEDED:  # otherwise it depends on how much is needed
        assert report["hugepages"] == (huge != "no")
    if report["hugepages"]:
        assert used > 0 and free_hugepages() == free


def test_more_hugepages_than_there_are(tmp_path):
    """Asked for, they are missed, with how many there are."""
    network = endless(tmp_path, mixture())
    description = network.description()
    description["platform"]["memory"] = {"huge": "yes", "size": "900000GB"}
    path = write_description(tmp_path / "huge.yaml", description)
    done = weir("run", path, cwd=tmp_path)
    line = next(i for i, text in enumerate(path.read_text().splitlines(), 1) if '"huge"' in text)
    assert done.code == USAGE and f"huge.yaml:{line}:" in done.stderr, done.text
    assert f"{free_hugepages() >> 20} MiB of hugepages are free" in done.stderr and "expected 'auto'" in done.stderr


@pytest.mark.parametrize("wanted", [True, False])
def test_buffers_of_links(wanted, tmp_path):
    """A report says of how many links the frames lie in hugepages: of all, if there are as many and they are wanted."""
    link = {"format": "wibeth", "count": 2, "buffer": {"history": "50ms", "hugepages": wanted}}
    path = write_description(tmp_path / "links.yaml", {
        "application": {"links": {"wib": link}}, "platform": {"memory": {"huge": "no"}},
        "traffic": {"emulated": {"wib": {"rate": "20kHz", "frames": 100}}}})
    free = free_hugepages()
    reports = [weir("run", path, *options, "--name", unique_name(), cwd=tmp_path) for options in ((), ("--json",))]
    assert [done.code for done in reports] == [OK, OK], reports[0].text
    buffers = [link["buffer"] for link in reports[1].json()["readout"]["links"]]
    huge, mib = sum(buffer["hugepages"] for buffer in buffers), sum(buffer["memory_bytes"] for buffer in buffers) >> 20
    assert mib > 20 and f"  memory of buffers: {mib} MiB, in hugepages of {huge} of 2 links\n" in reports[0].stdout, reports[0].text
    if not wanted or free == 0:
        assert huge == 0
    elif free >= NEEDED:  # of fewer it depends on how many are needed
        assert huge == 2
