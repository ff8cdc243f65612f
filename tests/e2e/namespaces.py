# SPDX-License-Identifier: BSD-3-Clause
"""Hosts in network namespaces, and the little that they run."""
import itertools
import os
import shutil
import subprocess

_numbers = itertools.count()


class NotPermitted(Exception):
    """Namespaces cannot be made here; says why."""


def run(*command, check=True):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=60)
    assert not check or done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done


class Namespace:
    """A namespace that is removed, with all that is in it, at the end of a `with`."""

    def __init__(self, label):
        self.name = f"weir-e2e-{os.getpid()}-{next(_numbers)}-{label}"
        if not shutil.which("ip"):
            raise NotPermitted("the command `ip` is not installed")
        done = run("ip", "netns", "add", self.name, check=False)
        if done.returncode:
            raise NotPermitted(f"network namespaces are not permitted: {done.stderr.strip()}")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        run("ip", "netns", "delete", self.name, check=False)

    @property
    def prefix(self):
        return ["ip", "netns", "exec", self.name]

    def run(self, *command, check=True):
        return run(*self.prefix, *command, check=check)

    def ip(self, *arguments):
        return run("ip", "-n", self.name, *arguments)

    def python(self, program, *arguments):
        """Python in the namespace; the process is the caller's."""
        return subprocess.Popen([*self.prefix, "/usr/bin/env", "python3", "-c", program, *map(str, arguments)],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def mac(self, interface):
        return self.ip("-o", "link", "show", interface).stdout.split("link/ether ")[1].split()[0]


# Without a device's help: the packet socket would see checksums that nobody has filled in.
CHECKSUMS_BY_SOFTWARE = """
import array, fcntl, socket, struct, sys
command = array.array("B", struct.pack("II", 0x17, 0))  # ETHTOOL_STXCSUM
request = struct.pack("16sP", sys.argv[1].encode(), command.buffer_info()[0])
fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8946, request)  # SIOCETHTOOL
"""

PING = """
import socket, struct, sys, time
version = 6 if ":" in sys.argv[1] else 4
echo = socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58) if version == 6 else \\
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
echo.settimeout(60)
echo.setsockopt(socket.IPPROTO_IPV6 if version == 6 else socket.IPPROTO_IP, 51 if version == 6 else 12, 1)
for number in range(20):
    packet = struct.pack(">BBHHH", 128 if version == 6 else 8, 0, 0, 77, number) + bytes(10 * number)
    total = sum(struct.unpack(f">{len(packet) // 2}H", packet))
    total = (total & 0xffff) + (total >> 16)
    echo.sendto(packet[:2] + struct.pack(">H", total ^ 0xffff) + packet[4:], (sys.argv[1], 0))
    while True:
        answer, control, _, _ = echo.recvmsg(65536, 256)
        answer = answer[(answer[0] & 15) * 4:] if version == 4 else answer
        if answer[0] == (129 if version == 6 else 0) and answer[4:] == packet[4:]:
            break
    (_, _, left), = control
    print(int.from_bytes(left[:4], sys.byteorder))
"""

ECHO_SERVER = """
import socket, sys
server = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
server.bind((sys.argv[1], 7))
print("ready", flush=True)
while True:
    data, peer = server.recvfrom(65536)
    server.sendto(data[::-1], peer)
"""

ECHO_CLIENT = """
import random, socket, sys
client = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
client.settimeout(60)
if ":" not in sys.argv[1]:
    client.setsockopt(socket.IPPROTO_IP, 10, 0)  # IP_MTU_DISCOVER: no don't-fragment
chance = random.Random(1)
for size in [int(s) for s in sys.argv[2].split(",")]:
    data = chance.randbytes(size)
    client.sendto(data, (sys.argv[1], 7))
    assert client.recv(65536) == data[::-1], size
print("echoed", flush=True)
"""


def exchange(client, server, address, sizes):
    """Datagrams of these sizes from one host to the other, and back turned round."""
    listening = server.python(ECHO_SERVER, address)
    try:
        assert listening.stdout.readline().strip() == "ready", listening.stdout.read()
        asking = client.python(ECHO_CLIENT, address, ",".join(map(str, sizes)))
        output, _ = asking.communicate(timeout=120)
        assert asking.returncode == 0 and output.strip() == "echoed", output
    finally:
        listening.kill()
        listening.communicate()


def ping(host, address):
    """Twenty echo requests. Returns what times to live (hop limits) were left of the answers."""
    asking = host.python(PING, address)
    output, _ = asking.communicate(timeout=120)
    assert asking.returncode == 0, output
    assert len(output.split()) == 20
    return {int(word) for word in output.split()}
