# SPDX-License-Identifier: BSD-3-Clause
"""Links of description files whose frames come from devices: what is configured is applied or refused, and warned of."""
import copy

import pytest

from program import OK, ROOT, USAGE, Instance, weir, write_description
from running import stats, unique_name

CAPTURE = ROOT / "tests/data/srs-vmm3a-gem.pcap"
LINK = {"format": "srs-vmm3a", "count": 2, "stream": 1, "port": "detector", "buffer": {"history": "1s", "rate": "7kHz"}}
# A file is always promiscuous.
RECEIVER = {"device": f"net_pcap0,rx_pcap={CAPTURE}", "promiscuous_mode": True, "num_mbufs": 8192}


def description(receiver=RECEIVER, link=LINK, **links):
    return {"application": {"links": {"card": link, **links}}, "platform": {"receivers": {"detector": receiver}}}


def check_sums(readout):
    assert readout["adds_up"] is True
    for link in readout["links"]:
        assert link["received"] == link["buffered"] + link["held"] + link["delivered"] + sum(link["dropped"].values()), link
    feed, = readout["feeds"]
    assert feed["adds_up"] is True and feed["feed"] == "receiver" and feed["port"] == "detector"
    packets = feed["packets"]
    for queue in feed["queues"]:
        assert queue["received"] + queue["taken_over"] == (queue["to_dispatch"] + queue["arp_replied"] + queue["handed_over"]
                                                           + sum(queue["dropped"].values())), queue
    assert packets["received"] == sum(queue["to_dispatch"] for queue in feed["queues"])
    assert packets["received"] == packets["links"] + packets["not_udp"] + packets["truncated"] + packets["unknown_stream"]
    assert packets["links"] == sum(link["received"] for link in readout["links"])


def run(folder, what, frames):
    """Until so many frames were received. Returns what the report says of the readout."""
    name = unique_name()
    with Instance("run", write_description(folder / "receiver.yaml", what), "--name", name, "--json", cwd=folder) as instance:
        report = instance.until(
            lambda: (now := stats(name)) and now["readout"]["frames"]["received"] >= frames and now, f"{frames} frames")
        check_sums(report["readout"])
        done = instance.stop()
    assert done.code == OK, done.text
    readout = done.json()["readout"]
    check_sums(readout)
    return readout


def test_a_capture_through_a_device(tmp_path):
    readout = run(tmp_path, description(), 100)
    assert [link["received"] for link in readout["links"]] == [50, 50]
    assert [link["missing"] for link in readout["links"]] == [1, 1]
    feed, = readout["feeds"]
    assert feed["device"] == {"received": 100, "imissed": 0, "rx_nombuf": 0, "ierrors": 0}
    assert feed["steering"] == "none" and feed["mtu"] == 9000


def refused(folder, what, words, receiver_key=None):
    """Each line of the message names the file and what was expected."""
    path = write_description(folder / "bad.yaml", what)
    done = weir("check", path, cwd=folder)
    assert done.code == USAGE, done.text
    assert all(word in done.stderr for word in words), done.stderr
    if receiver_key:
        line = 1 + [receiver_key in text for text in path.read_text().splitlines()].index(True)
        assert f"{path}:{line}:" in done.stderr, done.stderr


@pytest.mark.parametrize("keys, words, key", [
    ({"device": None}, ["has no device; expected one of 'device' and 'pci_addr'"], '"detector": {'),
    ({"pci_addr": "0000:01:00.0"}, ["has two devices"], '"detector": {'),
    ({"device": "eth0"}, ["unknown device 'eth0'"], '"device"'),
    ({"burst_size": 8192}, ["burst_size 8192 is more than the 4096 packets"], '"detector": {'),
    ({"num_mbufs": 4096}, ["num_mbufs 4096, expected at least rx_ring_size + burst_size = 6144"], '"detector": {'),
    ({"sources": [{"queue": 0}]}, ["expected source_ip, udp_port, or both"], '"detector": {'),
    ({"mtu": "9kB", "jumbo": True}, ["jumbo"], '"jumbo"'),
])
def test_receivers_that_cannot_be(tmp_path, keys, words, key):
    receiver = {name: value for name, value in {**RECEIVER, **keys}.items() if value is not None}
    refused(tmp_path, description(receiver), words, key)


def test_links_that_cannot_be(tmp_path):
    refused(tmp_path, description(link={**LINK, "port": "nic0"}), ["unknown port 'nic0'"], '"port"')
    refused(tmp_path, description(link={**LINK, "queue": 1}), ["has no queue 1; expected 0 to 0"], '"queue"')
    refused(tmp_path, description(other={"format": "wibeth", "port": "detector", "buffer": {"history": "1s"}}),
            ["are of format 'srs-vmm3a', by link 'card'"], '"wibeth"')
    nobody = copy.deepcopy(description())
    del nobody["application"]["links"]["card"]["port"]
    refused(tmp_path, nobody, ["no link takes frames of receiver 'detector'", "or a key 'port'"])
    twice = {**description(), "traffic": {"emulated": {"card": {}}}}
    refused(tmp_path, twice, ["frames come to link 'card' already"])


def test_what_a_device_refuses(tmp_path):
    path = write_description(tmp_path / "bad.yaml", description({**RECEIVER, "promiscuous_mode": False}))
    done = weir("run", path, "--name", unique_name(), cwd=tmp_path)
    assert done.code == USAGE and "cannot have promiscuous_mode false" in done.stderr and f"{path}:" in done.stderr, done.text


def test_warnings(tmp_path):
    """A file that is in order may still be warned of: where, and what to change."""
    link = {"format": "wibeth", "count": 40, "port": "detector", "buffer": {"history": "1ms"}}
    receiver = {**RECEIVER, "rx_ring_size": 2048, "burst_size": 2048, "mtu": "1500B", "mbuf_cache_size": 500, "cpus": [0]}
    path = write_description(tmp_path / "slow.yaml", description(receiver, link))
    done = weir("check", path, cwd=tmp_path)
    assert done.code == OK and "in order" in done.stdout, done.text
    found = weir("check", path, "--json", cwd=tmp_path).json()
    lines = path.read_text().splitlines()
    by_kind = {warning["kind"]: warning for warning in found["warnings"]}
    for kind, key, words in (("ring_time", "rx_ring_size", "1220703 frames/s"), ("ring_burst", "rx_ring_size", "two bursts"),
                             ("mtu", "mtu", "set it to that or more"), ("cache_share", "num_mbufs", "no multiple")):
        warning = by_kind[kind]
        assert words in warning["message"] and f'"{key}"' in lines[warning["line"] - 1], warning
        assert f"{path}:{warning['line']}:{warning['column']}: warning: {warning['message']}\n" in done.stderr
    assert found["ok"] and not found["errors"] and len(done.stderr.splitlines()) == len(found["warnings"])


def test_example():
    """From the top of the tree, as it says: its capture is named from there."""
    done = weir("run", ROOT / "examples/receiver.yaml", "--name", unique_name(), "--duration", "200ms", cwd=ROOT)
    assert done.code == OK and "packets from the device" in done.stdout and "do NOT" not in done.stdout, done.text
