# SPDX-License-Identifier: BSD-3-Clause
"""The models of `weir bench sim`, for SimPy and for Ciw, as their users would write them.

Says on a line, in JSON, which of them this Python has. Then answers a line "LIBRARY MODEL CUSTOMERS SEED" by one of JSON: how long
the run took, in nanoseconds, and what is known of the customers of each class, in units of the mean service.

A customer counts when it leaves. Of each the wait and the time inside are kept, of which the means and the largest are told;
nothing is counted over time. SimPy's models are a process that makes customers and a process of each customer, which asks for one
of the servers. Ciw's is a network of one node; its records, which it always takes, are read as its users read them. Making the
network, which is done once for all runs, is not in the time.
"""
import functools
import importlib
import json
import platform
import random
import sys
import time

# Servers, and for each class its part of what all of them can do.
MODELS = {
    "mm1": (1, [0.7]),
    "mm32": (32, [0.9]),
    "npu": (32, [0.3, 0.6]),  # the first class has priority
}


class Tally:
    """What is known of the customers of a class."""

    def __init__(self):
        self.waits = []
        self.latencies = []

    def add(self, wait, latency):
        self.waits.append(wait)
        self.latencies.append(latency)

    def told(self):
        nb = len(self.waits)
        return {"customers": nb, "wait": sum(self.waits) / nb, "wait_max": max(self.waits),
                "latency": sum(self.latencies) / nb, "latency_max": max(self.latencies)}


def simpy_network(model):
    return MODELS[model]


def simpy_run(network, customers, seed):
    """Until so many customers have left, of all classes together."""
    import simpy
    servers, loads = network
    has_classes = len(loads) > 1
    env = simpy.Environment()
    cores = simpy.PriorityResource(env, servers) if has_classes else simpy.Resource(env, servers)
    enough = env.event()
    expovariate = random.Random(seed).expovariate
    left = customers

    def customer(request, tally):
        nonlocal left
        arrived = env.now
        with request:
            yield request
            begun = env.now
            yield env.timeout(expovariate(1.0))
        tally.add(begun - arrived, env.now - arrived)
        left -= 1
        if left == 0:
            enough.succeed()

    def source(priority, rate, tally):
        while True:
            yield env.timeout(expovariate(rate))
            env.process(customer(cores.request(priority) if has_classes else cores.request(), tally))

    tallies = [Tally() for _ in loads]
    for priority, (load, tally) in enumerate(zip(loads, tallies)):
        env.process(source(priority, load * servers, tally))
    env.run(until=enough)
    return tallies


def ciw_network(model):
    import ciw
    servers, [load] = MODELS[model]
    return ciw.create_network(arrival_distributions=[ciw.dists.Exponential(rate=load * servers)],
                              service_distributions=[ciw.dists.Exponential(rate=1.0)], number_of_servers=[servers])


def ciw_run(network, customers, seed):
    """Until so many customers have left."""
    import ciw
    ciw.seed(seed)
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_customers(customers, method="Finish")
    tally = Tally()
    for record in simulation.get_all_records():
        tally.add(record.waiting_time, record.exit_date - record.arrival_date)
    return [tally]


LIBRARIES = {"simpy": (simpy_network, simpy_run), "ciw": (ciw_network, ciw_run)}


@functools.lru_cache(maxsize=None)
def network_of(library, model):
    return LIBRARIES[library][0](model)


def run(library, model, customers, seed):
    network = network_of(library, model)
    begin_ns = time.perf_counter_ns()
    classes = [tally.told() for tally in LIBRARIES[library][1](network, customers, seed)]
    return {"ns": time.perf_counter_ns() - begin_ns, "classes": classes}


def version(library):
    try:
        return importlib.import_module(library).__version__
    except ImportError:
        return None


def say(answer):
    print(json.dumps(answer), flush=True)


def main():
    say({"python": platform.python_version(), **{library: version(library) for library in LIBRARIES}})
    for line in sys.stdin:
        library, model, customers, seed = line.split()
        say(run(library, model, int(customers), int(seed)))


if __name__ == "__main__":
    main()
