# SPDX-License-Identifier: BSD-3-Clause
"""Emulated links of one process, received by another: packets of 7,242 bytes over shared memory."""
from examples import Example, counts, link_counts

LINKS, FRAMES = 2, 1000
# What is done to two frames of each link, and what the receiver has to say of each link then. A frame that does not come, or
# comes under a key that no link has, or too short to be one, is missing; one that comes late was missing until then.
SCHEDULE = {
    "drop@100/500": {"gap": 2, "missing": 2},
    "duplicate@150/500": {"duplicate": 2},
    "reorder@200/500=3": {"gap": 2, "missing": 2, "reordered": 2},
    "stream@250/500=100": {"gap": 2, "missing": 2},
    "sequence@300/500=7": {"sequence_jump": 2},
    "timestamp@325/500=100": {"early": 2},
    "timestamp@350/500=-100": {"late": 2},
    "truncate@400/500=100": {"gap": 2, "missing": 2, "wrong_size": 2, "dropped": 2},
    "jump@450/500=125000000": {"timestamp_jump": 2},  # 2 s
    "stall@475/500=20": {},
}
DROPPED, DUPLICATED, UNKNOWN, TRUNCATED = 2, 2, 2, 2


def exchange(folder, expected, *faults):
    """The links of one process to those of another, until so many frames were delivered. Returns what both say."""
    # Buffers as large as a packet: memif of DPDK 22.11 takes what follows a short one for a part of it, else.
    cable = f"net_memif0,socket={folder}/cable.sock,socket-abstract=no,bsize=9216"
    # The device is always promiscuous.
    with Example("receive", cable + ",role=server", "-p", "-f", "wibeth", "-l", LINKS, "net_memif0", "10.1.0.1", expected) as receiver:
        receiver.ready()
        with Example("send", cable + ",role=client", "net_memif0", "10.1.0.2", "10.1.0.1", LINKS, FRAMES, *faults) as sender:
            received, _ = receiver.end()
            sent, _ = sender.interrupt()
    assert counts(sent.splitlines()[0])["dropped"] == 0, sent
    return sent, received


def test_each_fault_of_the_schedule_is_counted(tmp_path):
    sent_each = FRAMES - DROPPED + DUPLICATED
    links_each = sent_each - UNKNOWN
    sent, received = exchange(tmp_path, LINKS * (links_each - TRUNCATED), *SCHEDULE)
    account, device = (counts(line) for line in received.splitlines()[:2])
    assert counts(sent.splitlines()[0])["sent"] == LINKS * sent_each == account["received"] + device["missed by the device"], sent + received
    assert account.pop("received") == sum(account.values()), received
    assert account.pop("links") == LINKS * links_each and account.pop("unknown") == LINKS * UNKNOWN, received
    assert not any(account.values()), received
    expected = {"received": links_each, "delivered": links_each - TRUNCATED}
    for faults in SCHEDULE.values():
        for name, count in faults.items():
            expected[name] = expected.get(name, 0) + count
    for name, link in link_counts(received).items():
        assert {key: count for key, count in link.items() if count} == expected, name + received
    assert len(link_counts(received)) == LINKS
    made = link_counts(sent)
    assert len(made) == LINKS and all(link["made"] == FRAMES and link["sent"] == sent_each and link["no_mbuf"] == 0
                                      for link in made.values()), sent
