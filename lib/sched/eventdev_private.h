/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EVENTDEV_PRIVATE_H
#define EVENTDEV_PRIVATE_H

/*
 * What the files of the backend over DPDK's event devices share.
 *
 *   eventdev.c          what the device can do, start, stop
 *   eventdev_config.c   configuration of the device, links
 *   eventdev_inspect.c  statistics
 *   eventdev_port.c     per event: credits, what ports hold, reserved credit
 *
 * Events inside are counted here, not by the device: devices round to what their ports take on loan, do not know reserved
 * credit, and event_dsw gives credits back at dequeue. The device is configured with room to spare, so that it does not
 * refuse what was admitted here.
 *
 * What a port holds is known by slot: rte_event::impl_opaque of an event that was dequeued is the number of its slot, where the
 * device's own value is kept. Nothing but a FORWARD or RELEASE of a slot in use reaches the device, once. A stale copy of an event
 * that was given up is told from the one that has its slot now only while the slot is not in use again: slots go round, so that is
 * after 256 events of the port.
 */

#include <rte_spinlock.h>

#include "event.h"
#include "sched_private.h"

#define EVENTDEV_SLOTS 256 /* rte_event::impl_opaque has 8 bits */
#define EVENTDEV_BURST 32  /* most events that go to or come from a device in a call */

/* What a driver does that its capabilities do not tell. */
struct eventdev_traits {
	const char *driver;
	unsigned int credits_per_port; /* on loan to a port, though no event has them */
	bool out_of_order;  /* FORWARD and RELEASE in any order; others take the oldest held */
	bool no_ordered;    /* no ordered queues */
	bool fixed_ordered; /* ports of ordered queues are for good */
	bool pipeline; /* event_opdl: one queue per port, in order of their numbers, all of a dequeue at once */
	bool no_ports;   /* event_dsw: port_setup() leaves behind what makes the next one fail */
	bool no_restart; /* must be configured anew after it was stopped */
};

#define EVENTDEV_PATIENCE 2 /* seconds for a device to come to rest */

struct eventdev_slot {
	bool held;
	uint8_t opaque, rsvd, queue; /* the device's values; whence it came */
	uint32_t flow;
};

/* An event on its way to the device. */
enum eventdev_out { OUT_WAITS, OUT_READY, OUT_DEAD };

struct eventdev_port {
	struct weir_sched_port port;
	struct eventdev *ed;
	uint8_t device, id;
	bool in_order;       /* events go to the device in the order in which they were dequeued */
	bool pipeline, last; /* event_opdl; no queue follows */
	bool releases;       /* the device releases at dequeue, and cannot be told not to */
	bool maintain;       /* the device wants rte_event_maintain() */
	bool keep;           /* weir_sched_port_config::no_implicit_release */
	uint16_t max_held, nb_held;
	uint16_t nb_last;         /* slots of the last dequeue, from first on */
	uint8_t first, next_slot; /* next_slot: where to look for a free one */
	uint8_t out_tail;         /* the next to go to the device */
	uint16_t nb_out;          /* in order: those that are held count too, their place is kept */
	uint16_t nb_dequeues;
	uint32_t credits; /* taken from eventdev::used, not in use */
	struct weir_sched_stats stats;
	struct sched_queue_counts queues[WEIR_SCHED_QUEUES_MAX];
	struct eventdev_slot slots[EVENTDEV_SLOTS];
	uint8_t out_state[EVENTDEV_SLOTS]; /* enum eventdev_out */
	struct rte_event out[EVENTDEV_SLOTS];
};

/* For enqueue_reserved(), by any thread. */
struct eventdev_reserved {
	rte_spinlock_t lock;
	uint8_t port;           /* of the device, no queue is linked to it */
	uint32_t mask;          /* of the ring: as many as can be inside */
	uint32_t head, tail;    /* tail is read without lock */
	struct rte_event *ring; /* what the device had no room for yet */
	uint64_t nb_new[WEIR_SCHED_QUEUES_MAX], nb_invalid;
};

struct eventdev {
	uint8_t device;
	uint8_t nb_device_ports; /* with the one for reserved credit */
	bool configured, runs_service, has_service, warned;
	uint32_t service;
	uint32_t caps;
	const struct eventdev_traits *traits;
	int32_t device_events; /* as the device is configured */
	uint32_t nb_events, threshold, nb_reserved;
	uint32_t cache_max;                       /* credits that a port keeps */
	uint64_t linked[WEIR_SCHED_PORTS_MAX][4]; /* per port, a bit per queue */
	struct eventdev_reserved reserved;
	void (*drain)(void *arg, const struct rte_event *event); /* while stopping */
	void *drain_arg;
	struct eventdev_port *ports[WEIR_SCHED_PORTS_MAX];
	/* Credits: of events inside, kept by ports, or granted. At most nb_events. */
	uint32_t used __attribute__((aligned(64)));
	uint32_t granted; /* of these, by reserve() */
};

static inline bool
eventdev_can(const struct eventdev *ed, uint32_t cap)
{
	return (ed->caps & cap) != 0;
}

/* Can the device have these links? 0, or -ENOTSUP with a log. */
int eventdev_check_links(const struct weir_sched *sched);

/* Configure the device, its queues and ports; nothing is linked then. */
int eventdev_configure(struct weir_sched *sched);

/* Link or unlink one queue and one port. */
int eventdev_set_link(struct weir_sched *sched, unsigned int port, uint8_t queue, bool link);

/* Link a queue as groups are now. */
int eventdev_link_queue(struct weir_sched *sched, unsigned int queue);

/* Log that the device refused. @return rc */
int eventdev_fail(const struct weir_sched *sched, const char *what, unsigned int which, int rc);

extern const struct weir_sched_port_ops eventdev_port_ops;

/* Run the device's scheduler, where there is no service core for it. */
void eventdev_run_service(struct eventdev *ed);

/* Release all that a port holds, and send what waits. False: the device has no room for all of it yet. */
bool eventdev_port_release(struct eventdev_port *port);

/* Give the credits back that a port keeps. */
void eventdev_port_return_credits(struct eventdev_port *port);

/* Events inside, those that ports hold too; exact while no port is in use. */
uint32_t eventdev_nb_inside(const struct eventdev *ed);

uint32_t eventdev_reserve(struct weir_sched *sched, uint32_t nb);
void eventdev_unreserve(struct weir_sched *sched, uint32_t nb);
int eventdev_enqueue_reserved(struct weir_sched *sched, const struct rte_event *event);

void eventdev_stats(const struct weir_sched *sched, struct weir_sched_stats *sum);
void eventdev_queue_counts(
	const struct weir_sched *sched, unsigned int queue, struct sched_queue_counts *counts);
void eventdev_xstats(const struct weir_sched *sched, enum weir_sched_part part, unsigned int which,
	struct sched_xstats *to);
void eventdev_dump(struct weir_sched *sched, FILE *file);

/* Send what the device had no room for; and the maintenance of its port. */
void eventdev_reserved_push(struct eventdev *ed);

#endif
