# SPDX-License-Identifier: BSD-3-Clause
"""Real interfaces: hosts in two network namespaces talk through the program, which runs in a third. Resolution
of addresses is punted, so the hosts' neighbours are set by hand."""
import contextlib
import os
import pathlib
import socket

import pytest

from namespaces import CHECKSUMS_BY_SOFTWARE, Namespace, NotPermitted, exchange, ping
from network import assert_report_adds_up
from program import OK, SLOW, USAGE, Instance, write_description
from running import stats, unique_name

pytestmark = pytest.mark.xdist_group("interfaces")  # at the end is looked at what they left

SIZES = [0, 1, 100, 512, 1000, 1200, *range(1, 1400, 37)]


class Hosts:
    """a: 10.1.0.2, 2001:db8:1::2 and b: 10.2.0.2, 2001:db8:2::2, with routes to each other; r, where weir runs."""

    def __init__(self, stack):
        self.a, self.b, self.r = (stack.enter_context(Namespace(label)) for label in "abr")

    def configure(self, host, net, interface, gateway_mac):
        host.ip("link", "set", "lo", "up")
        host.ip("address", "add", f"10.{net}.0.2/24", "dev", interface)
        host.ip("-6", "address", "add", f"2001:db8:{net}::2/64", "dev", interface, "nodad")
        host.ip("link", "set", interface, "up")
        host.python(CHECKSUMS_BY_SOFTWARE, interface).communicate(timeout=60)
        for version, gateway in (("-4", f"10.{net}.0.1"), ("-6", f"2001:db8:{net}::1")):
            host.ip(version, "neighbour", "replace", gateway, "lladdr", gateway_mac, "dev", interface)
            host.ip(version, "route", "replace", "default", "via", gateway, "dev", interface)


@pytest.fixture
def hosts():
    with contextlib.ExitStack() as stack:
        try:
            yield Hosts(stack)
        except NotPermitted as why:
            pytest.skip(str(why))


def description(devices, macs, b_mtu=1500):
    nets = {"a": 1, "b": 2}
    return {
        "application": {
            "neighbours": [{"id": str(net), "port": host, "mac": macs[host]} for host, net in nets.items()],
            "routes": [{"prefix": prefix.format(net), "next_hop": net} for net in nets.values()
                       for prefix in ("10.{}.0.0/24", "2001:db8:{}::/64")],
            "addresses": ["10.1.0.1", "10.2.0.1"],
        },
        "platform": {"ports": {host: {"device": devices[host], "mtu": f"{b_mtu if host == 'b' else 1500}B"}
                               for host in nets}, "idle": "sleep"},
        "run": {"until": "signal"},
    }


@contextlib.contextmanager
def router(tmp_path, hosts, content, name=None):
    """The program, running in its namespace; its final report is checked."""
    name = name or unique_name()
    path = write_description(tmp_path / "router.yaml", content)
    with Instance("run", path, "--name", name, "--json", cwd=tmp_path, prefix=hosts.r.prefix) as instance:
        instance.until(lambda: (stats(name) or {}).get("state") == "running", "running router", 30 * SLOW)
        instance.name = name
        yield instance
        done = instance.stop()
        assert done.code == OK, done.text
        assert_report_adds_up(done.json())


def by_packet_sockets(hosts, driver="net_af_packet"):
    """Cables from each host to the router; returns devices and hosts' addresses."""
    devices, macs = {}, {}
    for net, (label, host) in enumerate((("a", hosts.a), ("b", hosts.b)), 1):
        hosts.r.ip("link", "add", f"to_{label}", "type", "veth", "peer", "name", "eth0", "netns", host.name)
        hosts.r.run("sysctl", "-qw", f"net.ipv6.conf.to_{label}.disable_ipv6=1", check=False)
        hosts.r.ip("link", "set", f"to_{label}", "up")
        hosts.configure(host, net, "eth0", hosts.r.mac(f"to_{label}"))
        devices[label] = f"{driver}{net},iface=to_{label}"
        macs[label] = host.mac("eth0")
    return devices, macs


# Loads a program that passes every frame on.
LOAD_XDP = """
import ctypes, platform, struct
program = ctypes.create_string_buffer(struct.pack("<QQ", 2 << 32 | 0xb7, 0x95))  # r0 = XDP_PASS; exit
licence = ctypes.create_string_buffer(b"BSD")
attributes = ctypes.create_string_buffer(struct.pack("IIQQ", 6, 2, ctypes.addressof(program), ctypes.addressof(licence)),
                                         128)
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall({"x86_64": 321, "aarch64": 280}[platform.machine()], 5, attributes, 128) < 0:  # BPF_PROG_LOAD
    raise OSError(ctypes.get_errno(), "bpf()")
"""


def by_xdp(hosts):
    """The same by AF_XDP sockets, where the kernel has those and DPDK the driver."""
    try:
        socket.socket(44, socket.SOCK_RAW).close()  # AF_XDP
    except OSError as why:
        pytest.skip(f"no AF_XDP sockets: {why}")
    loading = hosts.r.python(LOAD_XDP)
    output, _ = loading.communicate(timeout=60)
    if loading.returncode:
        pytest.skip(f"no XDP programs: {output.splitlines()[-1]}")
    drivers = {path.name for path in pathlib.Path("/usr/lib").glob("*/dpdk/pmds-*/librte_net_*.so*")}
    if drivers and not any(name.startswith("librte_net_af_xdp.") for name in drivers):
        pytest.skip("DPDK is packaged without its driver for AF_XDP")
    return by_packet_sockets(hosts, "net_af_xdp")


CABLES = pytest.mark.parametrize("cables", [by_packet_sockets, by_xdp])


@CABLES
def test_ping(tmp_path, hosts, cables):
    """Each way, both versions; the router took one from the time to live of 64."""
    with router(tmp_path, hosts, description(*cables(hosts))):
        assert ping(hosts.a, "10.2.0.2") == {63}
        assert ping(hosts.b, "2001:db8:1::2") == {63}


@CABLES
def test_datagrams(tmp_path, hosts, cables):
    with router(tmp_path, hosts, description(*cables(hosts))) as instance:
        exchange(hosts.a, hosts.b, "10.2.0.2", SIZES)
        exchange(hosts.b, hosts.a, "2001:db8:1::2", SIZES)
        report = stats(instance.name)
    sent = {port["name"]: port["tx_packets"] for port in report["ports"]}
    assert sent["a"] >= 2 * len(SIZES) and sent["b"] >= 2 * len(SIZES)
    assert report["packets"]["out"] == sum(sent.values())


@CABLES
def test_fragments_are_put_together_by_the_host(tmp_path, hosts, cables):
    """What the router cuts for the small MTU behind it, the receiving host's own IP can reassemble."""
    with router(tmp_path, hosts, description(*cables(hosts), b_mtu=576)) as instance:
        exchange(hosts.a, hosts.b, "10.2.0.2", [100, 548, 549, 1000, 1400, 1472])
        report = stats(instance.name)
    assert report["packets"]["fragmented"] == 4 and report["packets"]["fragments"] == 2 + 2 + 3 + 3


@pytest.mark.long
def test_interfaces_after_xdp(tmp_path, hosts):
    """An end in order gives them back to the kernel; after another one the next run takes them over."""
    content, name = description(*by_xdp(hosts)), unique_name()

    def taken():
        return [label for label in "ab" if "xdp" in hosts.r.ip("link", "show", f"to_{label}").stdout]
    with router(tmp_path, hosts, content, name) as instance:
        assert taken() == ["a", "b"]
    assert taken() == []
    with pytest.raises(AssertionError, match="died of signal 9"):
        with router(tmp_path, hosts, content, name) as instance:
            instance.process.kill()
    assert taken() == ["a", "b"]
    with router(tmp_path, hosts, content, name):
        exchange(hosts.a, hosts.b, "10.2.0.2", SIZES[::4])
    assert taken() == []


def test_two_queues_and_two_workers(tmp_path, hosts):
    """The packet sockets spread flows over two queues of each port; each worker polls one of each."""
    devices, macs = by_packet_sockets(hosts)
    content = description({host: f"{device},qpairs=2" for host, device in devices.items()}, macs)
    content["platform"]["workers"] = [{"receive": ["a.0", "b.0"]}, {"receive": ["a.1", "b.1"]}]
    with router(tmp_path, hosts, content) as instance:
        for _ in range(6):  # flows
            exchange(hosts.a, hosts.b, "10.2.0.2", SIZES[::4])
        exchange(hosts.a, hosts.b, "2001:db8:2::2", SIZES)
        report = stats(instance.name)
    queues = [node["packets"] for node in report["nodes"] if node["name"].startswith("ethdev_rx-")]
    assert len(queues) == 4 and sum(queues) == report["packets"]["in"]
    assert sum(1 for packets in queues if packets) >= 3


def test_too_few_queues_are_told(tmp_path, hosts):
    """Each worker needs a transmit queue of its own."""
    content = description(*by_packet_sockets(hosts))
    content["platform"]["workers"] = [{"receive": ["a"]}, {"receive": ["b"]}]
    path = write_description(tmp_path / "router.yaml", content)
    with Instance("run", path, cwd=tmp_path, prefix=hosts.r.prefix) as instance:
        done = instance.wait()
    assert done.code == USAGE and "router.yaml:" in done.stderr and "queues" in done.stderr, done.text


def test_own_addresses_and_arp_are_punted(tmp_path, hosts):
    devices, macs = by_packet_sockets(hosts)
    with router(tmp_path, hosts, description(devices, macs)) as instance:
        hosts.a.ip("neighbour", "delete", "10.1.0.1", "dev", "eth0")
        send = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('{}', 9))"
        hosts.a.python(send.format("10.1.0.1")).communicate(timeout=60)
        hosts.b.python(send.format("10.2.0.1")).communicate(timeout=60)

        def counted():
            reasons = {r["reason"]: r["packets"] for r in stats(instance.name)["punted"]}
            return reasons.get("arp") and reasons.get("ip4_own")
        instance.until(counted, "ARP and own packets among the punted")


@pytest.mark.skipif(not os.access("/dev/net/tun", os.R_OK | os.W_OK), reason="/dev/net/tun cannot be used")
def test_datagrams_over_taps(tmp_path, hosts):
    """The program makes the interfaces; they are then given to the hosts."""
    devices = {host: f"net_tap{net},iface=weir_{host},mac=02:00:00:00:0{net}:01" for net, host in ((1, "a"), (2, "b"))}
    macs = {"a": "02:00:00:00:01:02", "b": "02:00:00:00:02:02"}
    content = description(devices, macs)
    for host, net in (("a", 1), ("b", 2)):
        content["platform"]["ports"][host]["mac"] = f"02:00:00:00:0{net}:01"
    with router(tmp_path, hosts, content):
        for net, label, host in ((1, "a", hosts.a), (2, "b", hosts.b)):
            hosts.r.ip("link", "set", f"weir_{label}", "netns", host.name)
            host.ip("link", "set", f"weir_{label}", "address", macs[label])
            hosts.configure(host, net, f"weir_{label}", f"02:00:00:00:0{net}:01")
        exchange(hosts.a, hosts.b, "10.2.0.2", SIZES)
        exchange(hosts.b, hosts.a, "2001:db8:1::2", SIZES)


def test_missing_interface_is_told_with_its_place(tmp_path, hosts):
    """Not known before the run; but then with file, line and column, and without a crash."""
    content = description({"a": "net_af_packet1,iface=nothing0", "b": "net_af_packet2,iface=nothing1"},
                          {"a": "02:00:00:00:01:02", "b": "02:00:00:00:02:02"})
    path = write_description(tmp_path / "router.yaml", content)
    with Instance("run", path, cwd=tmp_path, prefix=hosts.r.prefix) as instance:
        done = instance.wait()
    assert done.code != OK
    line = next(i for i, text in enumerate(path.read_text().splitlines(), 1) if "nothing0" in text)
    assert f"router.yaml:{line}:" in done.stderr and "expected" in done.stderr, done.text


def test_nothing_is_left_of_the_namespaces():
    """Of those that the tests of this process made."""
    folder = pathlib.Path("/run/netns")
    assert not folder.exists() or not list(folder.glob(f"weir-e2e-{os.getpid()}-*"))
