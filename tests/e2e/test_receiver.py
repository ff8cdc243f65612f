# SPDX-License-Identifier: BSD-3-Clause
"""A receiver on a real interface: a host in another namespace finds it by ARP, and sends it datagrams."""
import contextlib
import re
import time

import pytest

from examples import Example, counts
from namespaces import CHECKSUMS_BY_SOFTWARE, Namespace, NotPermitted
from program import TIMEOUT_S

pytestmark = pytest.mark.xdist_group("interfaces")

DATAGRAMS = 1000
ADDRESS = "10.1.0.1"

SENDER = """
import socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(int(sys.argv[2])):
    sender.sendto(bytes([number & 255]) * (int(sys.argv[3]) + number), (sys.argv[1], 5000))
"""


@contextlib.contextmanager
def namespace(label):
    try:
        with Namespace(label) as made:
            yield made
    except NotPermitted as why:
        pytest.skip(str(why))


def set_up(namespace, interface, mtu):
    namespace.run("sysctl", "-qw", f"net.ipv6.conf.{interface}.disable_ipv6=1", check=False)
    namespace.ip("link", "set", interface, "mtu", mtu, "up")


@contextlib.contextmanager
def cable(mtu):
    """A host with an address, and the interface of the receiver's namespace it is wired to."""
    with namespace("a") as host, namespace("r") as readout:
        readout.ip("link", "add", "to_a", "type", "veth", "peer", "name", "eth0", "netns", host.name)
        set_up(host, "eth0", mtu)
        set_up(readout, "to_a", mtu)
        host.ip("address", "add", "10.1.0.2/24", "dev", "eth0")
        host.python(CHECKSUMS_BY_SOFTWARE, "eth0").communicate(timeout=60)
        yield host, readout


def send(host, nb, size, receiver):
    done = host.python(SENDER, ADDRESS, nb, size)
    output, _ = done.communicate(timeout=60)
    if done.returncode:  # an interface that is the receiver's goes with it: it ends
        print(output)
        receiver.process.wait(TIMEOUT_S)


def neighbour(host):
    """The MAC address that the host's kernel has learned for the receiver."""
    found = re.search(r"lladdr (\S+)", host.ip("neighbour", "show", ADDRESS, "dev", "eth0").stdout)
    return found and found.group(1)


def learned(host, receiver, size):
    """Sends until the kernel's question is answered: it asks by itself, and drops what it has no room for meanwhile."""
    end = time.monotonic() + TIMEOUT_S
    nb = 0
    while not neighbour(host):
        assert time.monotonic() < end, "no answer to ARP"
        send(host, 1, size, receiver)
        nb += 1
        time.sleep(0.05)
    return nb


def received(host, receiver, size):
    """Has the host send until the receiver has what it waits for. Returns the receiver's account of it."""
    nb = learned(host, receiver, size)
    # A few at a time: a device has room for some hundred.
    while receiver.process.poll() is None and nb < 10 * DATAGRAMS:
        send(host, 50, size, receiver)
        nb += 50
    out, _ = receiver.end()
    account = counts(out.splitlines()[0])
    assert account.pop("received") == sum(account.values()), out
    assert account.pop("links") >= DATAGRAMS and account.pop("ARP replies") >= 1, out
    del account["not UDP"]
    assert account and not any(account.values()), out
    assert re.search(r"[1-9]\d* announcements, steering: none", out), out
    return out


def test_found_and_counted():
    with cable(1500) as (host, readout), Example("receive", "net_af_packet0,iface=to_a", "-m", 1500, "net_af_packet0", ADDRESS,
                                                 DATAGRAMS, prefix=readout.prefix) as receiver:
        receiver.ready()
        out = received(host, receiver, 1)
        assert neighbour(host) == readout.mac("to_a")
    assert "mtu 1500, mbufs of 2048 bytes, 0 frames in several of them" in out, out


# A packet socket's ring has room for so much in each of its frames.
JUMBO_SOCKET = "net_af_packet0,iface=to_a,framesz=9216,blocksz=36864,framecnt=512"


def test_jumbo_frames():
    with cable(9000) as (host, readout), Example("receive", JUMBO_SOCKET, "net_af_packet0", ADDRESS, DATAGRAMS,
                                                 prefix=readout.prefix) as receiver:
        receiver.ready()
        out = received(host, receiver, 8900)
    assert "mtu 9000 (not the device's), mbufs of 9216 bytes, 0 frames in several of them" in out, out


def test_small_mbufs_where_a_device_does_not_scatter():
    with cable(9000) as (_, readout), Example("receive", JUMBO_SOCKET, "-b", 2048, "net_af_packet0", ADDRESS, DATAGRAMS,
                                              prefix=readout.prefix) as receiver:
        _, err = receiver.end(1)
    assert "the device does not scatter; mbuf_data_bytes is 2048: leave it out" in err, err


def test_jumbo_frames_in_small_mbufs_where_it_does():
    """A tap: the kernel of its own namespace is the host."""
    with namespace("t") as host, Example("receive", "net_tap0,iface=eth0", "-b", 2048, "net_tap0", ADDRESS, DATAGRAMS,
                                         prefix=host.prefix) as receiver:
        receiver.ready()
        set_up(host, "eth0", 9000)
        host.ip("address", "add", "10.1.0.2/24", "dev", "eth0")
        out = received(host, receiver, 8900)
    delivered = counts(out.splitlines()[0])["links"]
    assert f"mtu 9000 (not the device's), mbufs of 2048 bytes, {delivered} frames in several of them" in out, out
