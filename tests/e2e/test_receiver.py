# SPDX-License-Identifier: BSD-3-Clause
"""A receiver on a real interface: a host in another namespace finds it by ARP, and sends it datagrams."""
import os
import re
import shutil
import subprocess
import time

import pytest

from namespaces import CHECKSUMS_BY_SOFTWARE, Namespace, NotPermitted
from program import CRASH, TIMEOUT_S, WEIR, environment

pytestmark = pytest.mark.xdist_group("interfaces")

DATAGRAMS = 1000
ADDRESS = "10.1.0.1"

SENDER = """
import socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(int(sys.argv[2])):
    sender.sendto(bytes([number & 255]) * (1 + number), (sys.argv[1], 5000))
"""


@pytest.fixture
def cable():
    """A host with an address, and the interface of the receiver's namespace it is wired to."""
    try:
        with Namespace("a") as host, Namespace("r") as readout:
            readout.ip("link", "add", "to_a", "type", "veth", "peer", "name", "eth0", "netns", host.name)
            for namespace, interface in ((host, "eth0"), (readout, "to_a")):
                namespace.run("sysctl", "-qw", f"net.ipv6.conf.{interface}.disable_ipv6=1", check=False)
                namespace.ip("link", "set", interface, "up")
            host.ip("address", "add", "10.1.0.2/24", "dev", "eth0")
            host.python(CHECKSUMS_BY_SOFTWARE, "eth0").communicate(timeout=20)
            yield host, readout
    except NotPermitted as why:
        pytest.skip(str(why))


def send(host, nb):
    done = host.python(SENDER, ADDRESS, nb)
    output, _ = done.communicate(timeout=60)
    assert done.returncode == 0, output


def neighbour(host):
    """The MAC address that the host's kernel has learned for the receiver."""
    found = re.search(r"lladdr (\S+)", host.ip("neighbour", "show", ADDRESS, "dev", "eth0").stdout)
    return found and found.group(1)


def learned(host):
    """Sends until the kernel's question is answered: it asks by itself, and drops what it has no room for meanwhile."""
    end = time.monotonic() + TIMEOUT_S
    nb = 0
    while not neighbour(host):
        assert time.monotonic() < end, "no answer to ARP"
        send(host, 1)
        nb += 1
        time.sleep(0.05)
    return nb


def test_found_and_counted(cable):
    host, readout = cable
    program = WEIR.resolve().parents[1] / "examples/readout/example_receive"
    command = [*readout.prefix, program, "--no-huge", "--no-pci", "-m", "128", "--lcores", "0@" + str(min(os.sched_getaffinity(0))),
               "--file-prefix", readout.name, "--vdev", "net_af_packet0,iface=to_a", "--", "net_af_packet0", ADDRESS, str(DATAGRAMS)]
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment()) as receiver:
        try:
            said = receiver.stdout.readline()
            assert said == "ready\n", said + receiver.stderr.read()
            nb = learned(host)
            assert neighbour(host) == readout.mac("to_a")
            # A few at a time: its socket has room for some hundred.
            while receiver.poll() is None and nb < 10 * DATAGRAMS:
                send(host, 50)
                nb += 50
            out, err = receiver.communicate(timeout=TIMEOUT_S)
        finally:
            receiver.kill()
            shutil.rmtree(f"/var/run/dpdk/{readout.name}", ignore_errors=True)  # EAL leaves it
    assert receiver.returncode == 0 and not CRASH.search(err), out + err
    received, *parts = (int(number) for number in re.findall(r"(\d+) ", out.splitlines()[0]))
    assert received == sum(parts), out
    links, _, truncated, unknown, replies, *dropped = parts
    assert links >= DATAGRAMS and replies >= 1, out
    assert (truncated, unknown, sum(dropped)) == (0, 0, 0), out
    assert re.search(r"[1-9]\d* announcements, steering: none", out), out
