# SPDX-License-Identifier: BSD-3-Clause
"""The networks that most tests run: for real captures, and for generated frames."""
from network import Network
from program import ROOT

EXAMPLES = ROOT / "examples/data"
DATA = ROOT / "tests/data"
CAPTURES = {path.stem: path for folder in (EXAMPLES, DATA) for path in sorted(folder.glob("*.pcap"))}

INTERNET_ROUTES = [{"file": str(EXAMPLES / "ipv4-bgp.txt.gz")}, {"file": str(EXAMPLES / "ipv6-bgp.txt.gz")}]
# A thousand real routes of each version, and something for everything else but a few holes.
SAMPLE_ROUTES = [
    {"prefix": "0.0.0.0/0", "next_hop": 1}, {"prefix": "::/0", "next_hop": 9},
    {"file": str(DATA / "ipv4-sample.txt")}, {"file": str(DATA / "ipv6-sample.txt")},
    *({"prefix": f"{first}.0.0.0/6", "next_hop": first // 4 % 16} for first in range(0, 256, 4)),
    *({"prefix": f"{first << 8:x}::/9", "next_hop": first // 2 % 16} for first in range(0x20, 0x30, 2)),
    {"prefix": "192.168.0.0/16", "next_hop": 6}, {"prefix": "192.168.1.0/24", "next_hop": 13},
    {"prefix": "10.0.0.0/9", "next_hop": 5}, {"prefix": "172.16.0.0/12", "next_hop": 16},
    {"prefix": "2001:4860::/32", "next_hop": 16}, {"prefix": "2a00::/12", "next_hop": 17},
    {"prefix": "64.0.0.0/10", "next_hop": 17},
]
NEIGHBOURS = [
    {"id": "0-3", "port": "north", "mac": "02:10:00:00:00:01"}, {"id": "4-7", "port": "east", "mac": "02:20:00:00:00:01"},
    {"id": "8-11", "port": "south", "mac": "02:30:00:00:00:01"},
    {"id": "12-15", "port": "west", "mac": "02:40:00:00:00:01"},
]
HOLES = [{"id": "16", "port": "west"}, {"id": "17", "blackhole": True}]
OUTPUTS = {"north": {}, "east": {}, "south": {}, "west": {}}
VARIED = {"north": {"mtu": 576}, "east": {"vlan": 4094}, "south": {"mtu": 1280, "vlan": 7, "mac": "02:99:00:00:00:07"},
          "west": {"mtu": 9000}}


def captures(folder, inputs, outputs=None, **keys):
    """Forward real captures; inputs as {port: path} or {port: (path, keys)}."""
    inputs = {name: i if isinstance(i, tuple) else (i, {"accept": "any"}) for name, i in inputs.items()}
    keys = {"routes": SAMPLE_ROUTES, "neighbours": NEIGHBOURS + HOLES, **keys}
    return Network(folder, inputs, dict(outputs or OUTPUTS), **keys)


# Routes for generated frames: special addresses are all routed, so that only their being special keeps them in.
LABORATORY_ROUTES = [{"prefix": prefix, "next_hop": hop} for prefix, hop in (
    ("0.0.0.0/5", 0), ("96.0.0.0/3", 0), ("128.0.0.0/1", 0),
    ("10.1.0.0/16", 0), ("10.1.2.3/32", 3), ("10.2.0.0/16", 1), ("10.3.0.0/16", 2), ("10.4.0.0/16", 4),
    ("10.5.0.0/16", 5), ("10.6.0.0/16", 6), ("10.7.0.0/16", 7), ("10.0.0.0/24", 0), ("10.255.0.0/16", 0),
    ("::/3", 0), ("f000::/4", 0), ("2002::/16", 0), ("2001:db8:1::/48", 0), ("2001:db8:1:2::3/128", 3),
    ("2001:db8:2::/48", 1), ("2001:db8:3::/48", 2), ("2001:db8:4::/48", 4), ("2001:db8:5::/48", 5),
    ("2001:db8:6::/48", 6), ("2001:db8:7::/48", 7))]
LABORATORY_NEIGHBOURS = [
    {"id": "0", "port": "north", "mac": "02:10:00:00:00:01"}, {"id": "1", "port": "east", "mac": "02:20:00:00:00:01"},
    {"id": "2", "port": "south", "mac": "02:30:00:00:00:01"}, {"id": "3", "port": "west", "mac": "02:40:00:00:00:01"},
    {"id": "4", "port": "north"}, {"id": "5", "blackhole": True}, {"id": "6", "local": True},
    {"id": "7", "port": "tiny", "mac": "02:50:00:00:00:01"},
]
LABORATORY_OUTPUTS = {"north": {}, "east": {"mtu": 576}, "south": {"mtu": 9000, "vlan": 4094}, "west": {"vlan": 1},
                      "tiny": {"mtu": 68}}


def laboratory(folder, inputs, **keys):
    """Forward generated frames."""
    inputs = {name: i if isinstance(i, tuple) else (i, {}) for name, i in inputs.items()}
    keys = {"outputs": LABORATORY_OUTPUTS, "routes": LABORATORY_ROUTES, "neighbours": LABORATORY_NEIGHBOURS,
            "addresses": ["10.1.0.254", "2001:db8:1::fe"], **keys}
    return Network(folder, inputs, **keys)
