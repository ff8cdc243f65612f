# SPDX-License-Identifier: BSD-3-Clause
"""Datagrams of two UDP ports to a tap, each for a link of another queue: steered by rules that its driver and the kernel take, or, where these take
none (its driver says that it could, and the kernel that it has no flower), by software."""
import pytest

import test_receiver as receivers
from program import OK, Instance, write_description
from running import stats, unique_name
from test_readout_receivers import check_sums

pytestmark = pytest.mark.xdist_group("interfaces")

UDP_PORTS, LEAST = (7000, 7001), 20

# Frames of 7,200 bytes, whose streams follow the ports, from many source ports: the kernel would spread them over the queues. Until it is stopped.
SEND = """
import itertools, socket, struct, sys, time
port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
port.bind(("eth0", 0))
for number in itertools.count():
    for stream in range(2):
        frame = struct.pack("<QQ", stream << 6 | (number & 0xfff) << 40 | 898 << 52, number * 2048).ljust(7200, b"\\0")
        udp = struct.pack(">HHHH", 1024 + number % 100, 7000 + stream, 8 + len(frame), 0) + frame
        ip = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, 0x0a010002, 0x0a010001) + udp
        try:
            port.send(bytes.fromhex(sys.argv[1]) + b"\\2\\0\\0\\0\\0\\1\\x08\\0" + ip)
        except OSError:
            time.sleep(0.001)
"""


def description():
    def link(stream):
        return {"format": "wibeth", "stream": stream, "port": "detector", "queue": stream, "buffer": {"history": "20ms", "confirm": 1}}
    sources = [{"udp_port": udp, "queue": queue} for queue, udp in enumerate(UDP_PORTS)]
    receiver = {"device": "net_tap0,iface=eth0", "nb_queues": 2, "num_mbufs": 8192, "promiscuous_mode": True, "sources": sources}
    return {"application": {"links": {f"wib{stream}": link(stream) for stream in range(2)}}, "platform": {"receivers": {"detector": receiver}}}


def test_each_link_gets_its_own(tmp_path):
    name = unique_name()
    with receivers.namespace("s") as both:
        with Instance("run", write_description(tmp_path / "steered.yaml", description()), "--name", name, "--json", cwd=tmp_path,
                      prefix=both.prefix) as instance:
            instance.until(lambda: stats(name), "start")
            receivers.set_up(both, "eth0", 9000)
            sender = both.python(SEND, both.mac("eth0").replace(":", ""))
            try:
                instance.until(lambda: (now := stats(name)) and min(link["received"] for link in now["readout"]["links"]) >= LEAST, "frames")
            finally:
                sender.kill()
                sender.communicate()
            done = instance.stop()
    assert done.code == OK, done.text
    readout = done.json()["readout"]
    check_sums(readout)
    [feed] = readout["feeds"]
    assert feed["steering"] in ("flow", "software")
    assert feed["packets"]["unknown_stream"] == 0 and feed["packets"]["truncated"] == 0
    handed_over = sum(queue["handed_over"] for queue in feed["queues"])
    assert handed_over == sum(queue["taken_over"] for queue in feed["queues"])
    assert (handed_over > 0) == (feed["steering"] == "software")
