# SPDX-License-Identifier: BSD-3-Clause
"""The models of test_sim_reference.py for SimPy, written apart from the simulator: simpy_models.py MODEL REPLICATIONS SPAN

Prints in JSON what each replication found, a list for each quantity. Times are in microseconds; a replication begins empty and ends
after SPAN. A packet counts in a wait when its service begins, in a latency when it leaves.
"""
import functools
import json
import random
import sys

import simpy


class World:
    """A replication: its time, its chance, and what it found."""

    def __init__(self, seed, span):
        self.env = simpy.Environment()
        self.random = random.Random(seed)
        self.span = span
        self.found = {}

    def add(self, quantity, value):
        self.found.setdefault(quantity, []).append(value)

    def exponential(self, mean):
        return functools.partial(self.random.expovariate, 1 / mean)

    def uniform(self, mean):
        return functools.partial(self.random.uniform, 0, 2 * mean)

    def packets(self, rate, path):
        """Poisson; each goes the path, a process."""
        def source():
            while True:
                yield self.env.timeout(self.random.expovariate(rate))
                self.env.process(path())
        self.env.process(source())


class Station:
    """Servers behind a queue, with priorities, without interruptions."""

    def __init__(self, world, name, servers, room=None):
        self.world, self.env, self.name, self.room = world, world.env, name, room
        self.servers = simpy.PriorityResource(world.env, servers)
        self.busy = 0

    def is_full(self):
        return self.room is not None and self.servers.count == self.servers.capacity and len(self.servers.queue) >= self.room

    def serve(self, service_time, name=None, priority=0, begins=lambda: None):
        arrived = self.env.now
        with self.servers.request(priority) as request:
            yield request
            self.world.add(f"wait {name or self.name}", self.env.now - arrived)
            begins()
            self.busy += min(service_time, self.world.span - self.env.now)
            yield self.env.timeout(service_time)

    def utilisation(self):
        return self.busy / self.world.span / self.servers.capacity


def run(world):
    world.env.run(until=world.span)
    return {quantity: sum(values) / len(values) for quantity, values in world.found.items()}


def one_queue(world, servers, rate, service, room=None):
    station = Station(world, "q", servers, room)

    def path():
        arrived = world.env.now
        world.add("loss s", station.is_full())
        if not station.is_full():
            yield from station.serve(service())
            world.add("latency s", world.env.now - arrived)
    world.packets(rate, path)
    return {**run(world), "utilisation c": station.utilisation()}


def priorities(world):
    station = Station(world, "q", 4)
    service = world.uniform(1)
    for priority, (stream, queue, rate) in enumerate([("s", "q", 1.2), ("t", "r", 2.0)]):
        def path(stream=stream, queue=queue, priority=priority):
            arrived = world.env.now
            yield from station.serve(service(), queue, priority)
            world.add(f"latency {stream}", world.env.now - arrived)
        world.packets(rate, path)
    return {**run(world), "utilisation c": station.utilisation()}


def tandem(world):
    first, second = Station(world, "q", 2), Station(world, "r", 1)
    long, short = world.exponential(1), world.uniform(0.6)

    def path():
        arrived = world.env.now
        yield from first.serve(long())
        yield from second.serve(short())
        world.add("latency s", world.env.now - arrived)
    world.packets(1.3, path)
    return {**run(world), "utilisation c": first.utilisation(), "utilisation d": second.utilisation()}


def network(world):
    """Of what leaves the first station a quarter goes to the second one, and comes back."""
    first, second = Station(world, "q", 1), Station(world, "r", 1)
    short, long = world.exponential(1), world.exponential(4)

    def path():
        arrived = world.env.now
        yield from first.serve(short())
        while world.random.random() < 0.25:
            yield from second.serve(long())
            yield from first.serve(short())
        world.add("latency s", world.env.now - arrived)
    world.packets(0.4, path)
    return {**run(world), "utilisation c": first.utilisation(), "utilisation d": second.utilisation()}


def polling(world):
    """One server goes round three queues, 0.1 us from one to the next, and serves all that it finds and that comes meanwhile."""
    env, service = world.env, world.exponential(1)
    queues = {name: [] for name in ("q", "r", "w")}

    def packet(stream, queue):
        def path():
            queues[queue].append((stream, env.now))
            yield from ()
        return path

    def server():
        while True:
            for name, waiting in queues.items():
                while waiting:
                    stream, arrived = waiting.pop(0)
                    world.add(f"wait {name}", env.now - arrived)
                    yield env.timeout(service())
                    world.add(f"latency {stream}", env.now - arrived)
                yield env.timeout(0.1)
    for stream, queue in zip("stu", queues):
        world.packets(0.2, packet(stream, queue))
    env.process(server())
    return run(world)


def ordered(world):
    """What is done leaves in the order in which it was begun."""
    station = Station(world, "q", 4)
    service = world.exponential(1)
    last = None

    def path():
        nonlocal last
        arrived, left, before = world.env.now, world.env.event(), None

        def begins():
            nonlocal last, before
            before, last = last, left
        yield from station.serve(service(), begins=begins)
        if before is not None:
            yield before
        left.succeed()
        world.add("latency s", world.env.now - arrived)
    world.packets(2.8, path)
    return {**run(world), "utilisation c": station.utilisation()}


def preemptive(world):
    """Who is interrupted stands in line again, behind others of its class; here it is before them, which means see nothing of."""
    env, servers, service, busy = world.env, simpy.PreemptiveResource(world.env, 2), world.exponential(1), 0

    def path(stream, priority):
        nonlocal busy
        arrived, left = env.now, service()
        while left > 0:
            with servers.request(priority) as request:
                yield request
                begun = env.now
                try:
                    yield env.timeout(left)
                    left = 0
                except simpy.Interrupt:
                    left -= env.now - begun
                busy += env.now - begun
        world.add(f"latency {stream}", env.now - arrived)
    for priority, (stream, rate) in enumerate([("s", 0.6), ("t", 0.8)]):
        world.packets(rate, functools.partial(path, stream, priority))
    return {**run(world), "utilisation c": busy / world.span / 2}


def graph(world, rates, overflows=False):
    """A worker walks: it looks at one ring, then at the other, each look 0.05; what it takes of a ring, up to 4, takes 0.2 and 0.2
    for each packet. Then one node has all that came, by a vector of each ring's at a time where that makes a burst of 4, else together:
    0.15, and 0.25 for each. The walk's own 0.1 come last."""
    env, rings, busy, begun = world.env, [[], []], 0, None

    def visit(packets, vector, packet):
        yield env.timeout(vector + packet * len(packets))

    def worker():
        nonlocal busy, begun
        while True:
            pending, begun = [], None
            for name, ring in zip("ab", rings):
                if not ring:
                    yield env.timeout(0.05)
                else:
                    begun = env.now if begun is None else begun
                    packets = [ring.pop(0) for _ in range(min(4, len(ring)))]
                    for arrived in packets:
                        world.add(f"ring {name}.0.rx_ring", env.now - arrived)
                    yield env.timeout(0.05)
                    yield from visit(packets, 0.2, 0.2)
                    pending += packets
                if len(pending) >= 4 or name == "b":
                    while pending:
                        vector, pending = pending[:4], pending[4:]
                        yield from visit(vector, 0.15, 0.25)
            yield env.timeout(0.1)
            if begun is not None:
                busy += env.now - begun
                begun = None

    def packets(ring, name, rate):
        def path():
            if overflows:
                world.add(f"full {name}.0.rx_ring", len(ring) >= 32)
            if len(ring) < 32:
                ring.append(env.now)
            return
            yield
        world.packets(rate, path)
    for ring, name, rate in zip(rings, "ab", rates):
        packets(ring, name, rate)
    env.process(worker())
    found = run(world)
    return {**found, "utilisation worker-0": (busy if begun is None else busy + world.span - begun) / world.span}


MODELS = {
    "graph": lambda world: graph(world, (0.6, 0.9)),
    "graph_overflows": lambda world: graph(world, (1.2, 1.1), overflows=True),
    "mm1": lambda world: one_queue(world, 1, 0.7, world.exponential(1)),
    "mm4": lambda world: one_queue(world, 4, 3.2, world.exponential(1)),
    "mm8": lambda world: one_queue(world, 8, 6.4, world.exponential(1)),
    "mm32": lambda world: one_queue(world, 32, 28, world.exponential(1)),
    "md1": lambda world: one_queue(world, 1, 0.7, lambda: 1),
    "md4": lambda world: one_queue(world, 4, 3.2, lambda: 1),
    "mg1": lambda world: one_queue(world, 1, 0.7, world.uniform(1)),
    "erlang_b": lambda world: one_queue(world, 4, 3.2, world.exponential(1), room=0),
    "network": network,
    "polling": polling,
    "mm1k": lambda world: one_queue(world, 1, 0.9, world.exponential(1), room=4),
    "priorities": priorities,
    "preemptive": preemptive,
    "tandem": tandem,
    "ordered": ordered,
}


def main():
    model, replications, span = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    found = [MODELS[model](World(seed, span)) for seed in range(replications)]
    json.dump({quantity: [one[quantity] for one in found] for quantity in found[0]}, sys.stdout)


if __name__ == "__main__":
    main()
