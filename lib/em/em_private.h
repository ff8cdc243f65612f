/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EM_PRIVATE_H
#define EM_PRIVATE_H

/*
 * What the files of this library share.
 *
 *   em.c           an instance is made and ended        core.c         threads become cores, what each is to do
 *   handle.c       numbers that are never used again    call.c         a function runs on every core; events that wait
 *   object.c       objects                              start.c        they are started and stopped
 *   queue.c        queues                               queue_group.c  cores of queues
 *   send.c         per event: send, forward             dispatch.c     per event: receive
 *   local.c        queues of one core                   ring.c         queues that are not scheduled
 *   pool.c         buffers                              error.c        error handlers, what is dropped
 *   stats.c        counters                             dump.c, ctl.c  for people, for programs
 *   event_group.c  events that are counted together     timer.c, timer_*.c  events that are sent at their time
 *   poll.c         what cores do in each round besides
 *
 * A queue's number is its flow in the scheduler. The number of a queue that was deleted is not given to another one while
 * there may be events of it: each core counts what it sends to a queue, before it looks whether the queue is there, and what it
 * received. Once the queue is gone for all to see, the sums only meet when nothing is left. So that senders need no fence between
 * counting and looking, who deletes has all threads run one (em_barrier()).
 *
 * em->lock is held for short, never while a function of the application runs, and never when waiting.
 */

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_ring.h>

#include "weir_base.h"
#include "weir_base_nodes.h"
#include "weir_em.h"
#include "weir_em_pool.h"

#define EM_LOG(level, ...) weir_base_log(WEIR_BASE_LOG_##level, "em", __VA_ARGS__)

#define EM_LINE __attribute__((aligned(64)))

/* handle.c: kind (8 bits), generation (32), number (24). */
enum em_kind {
	EM_KIND_OBJECT = 1,
	EM_KIND_QUEUE,
	EM_KIND_QUEUE_GROUP,
	EM_KIND_EVENT_GROUP,
	EM_KIND_TIMER,
	EM_KIND_TIMEOUT,
	EM_KIND_POOL,
};

#define EM_NUMBER_MAX (1u << 24)
#define EM_INSTANCES  64 /* whose handles are told apart */

/* Numbers that are free: the one given back first is given out first. */
struct em_numbers {
	enum em_kind kind;
	uint32_t nb, nb_free, first; /* first: of the free ones */
	uint32_t *generation;
	uint32_t *free; /* a ring of nb */
};

/* Of another instance than the last ones. */
uint32_t em_instance_number(void);
int em_numbers_init(struct em_numbers *numbers, enum em_kind kind, uint32_t nb, uint32_t instance);
void em_numbers_fini(struct em_numbers *numbers);
/* A handle with a generation of its own; 0: none is free. */
uint64_t em_numbers_get(struct em_numbers *numbers);
/* Its handle is dead for ever. */
void em_numbers_put(struct em_numbers *numbers, uint32_t number);

static inline uint32_t
em_handle_number(uint64_t handle)
{
	return (uint32_t)handle & (EM_NUMBER_MAX - 1);
}

/* Why a handle is none: it never can have been one, or it was. */
static inline int
em_handle_errno(uint64_t handle, enum em_kind kind, uint32_t nb)
{
	return handle >> 56 == kind && em_handle_number(handle) < nb &&
			       (uint32_t)(handle >> 24) != 0
		       ? -ESTALE
		       : -EINVAL;
}

/* ---- what belongs to instances ---- */

struct em_object;

/* Written under the lock; read by senders and receivers where it says "any". */
struct em_queue {
	weir_em_queue handle; /* any: 0 when there is none; written last */
	uint64_t lead;        /* any: first word of its events: NEW, queue, flow, priority, type */
	struct em_object *target; /* any: who gets its events now */
	void *context;            /* any */
	struct rte_ring *ring;    /* of an unscheduled one */
	weir_em_output_t output;
	uint8_t type; /* enum weir_em_queue_type */
	uint8_t priority;
	uint8_t group; /* number of its queue group */
	bool enabled;
	bool dying;                       /* deleted, and its number is not free yet */
	uint16_t alias;                   /* see em->aliases */
	uint64_t last_handle;             /* for messages, when it is gone */
	struct em_object *object;         /* whose it is */
	struct em_queue *next, *previous; /* of the object's queues, or of the dying ones */
	char name[WEIR_EM_NAME_SIZE];
	/* Any thread, by atomic instructions. */
	uint64_t dropped, foreign_sent, foreign_received, foreign_users;
	/* What the counters were when it was made. */
	struct weir_em_queue_stats before;
	uint64_t blocked; /* in which weir_em::nb_flushes an event for it could not be sent */
} EM_LINE;

enum em_object_phase {
	EM_OBJECT_CREATED,
	EM_OBJECT_STARTING,       /* its start function runs */
	EM_OBJECT_STARTING_CORES, /* cores have been told */
	EM_OBJECT_RUNNING,
	EM_OBJECT_STOPPING,
	EM_OBJECT_DELETING,
};

struct em_object {
	weir_em_receive_t receive;
	void *context;
	uint16_t burst;
	weir_em_object handle; /* any */
	uint32_t number;
	enum em_object_phase phase;
	uint64_t start;                      /* number of the last start, unique in the instance */
	struct weir_em_object_config config; /* its name points to name */
	weir_em_error_handler_t error_handler; /* under the lock, but when it runs */
	void *error_arg;
	struct em_queue *queues;
	unsigned int nb_queues;
	struct weir_em_queue_stats before; /* received: events, sent: calls */
	char name[WEIR_EM_NAME_SIZE];
} EM_LINE;

struct em_queue_group {
	weir_em_queue_group handle;
	uint64_t cores;   /* as asked for */
	uint64_t applied; /* ports of the scheduler's group; stays when the group goes */
	unsigned int nb_queues;
	unsigned int nb_dying; /* queues of it that were deleted, of which something may be left, */
	bool is_deleted;       /* for which its number is kept */
	char name[WEIR_EM_NAME_SIZE];
};

struct em_pool {
	weir_em_pool handle; /* any */
	weir_em_pool open;   /* any: its handle; 0 while somebody looks whether it can be ended */
	struct rte_mempool *mempool;
	uint16_t room; /* bytes that fit */
	bool adopted;
	uint64_t before_allocated, before_failed;
};

/* What a core counts of each queue; objects: received, sent is calls; pools: received is allocated, sent is failed. */
struct em_count {
	uint64_t sent, received;
};

/* Something that each core is to do, at the beginning of a round. call.c */
struct em_call;

struct em_local_event {
	uint32_t queue;
	struct rte_event event;
};

/* Of a core, one for each priority. */
struct em_local {
	uint32_t head, tail;
	struct em_local_event *events; /* nb_local_events */
};

/* An object whose function waits for another one's, which it called: a start function in a receive function, and so on. start.c */
struct em_frame {
	weir_em_object object;
	const struct em_frame *outer;
};

/* A round of the simulator's workers is as long. */
_Static_assert(
	WEIR_BASE_ROUND_MAX == WEIR_EM_BURST_MAX, "the simulator's rounds have another length");

/*
 * An event that was forwarded to where the scheduler has nothing to do with it: the call does not hold it any more, its credit and
 * context are the call's still.
 */
#define EM_GONE (UINT32_C(1) << 31)

struct weir_em_core {
	struct weir_em *em;
	struct weir_sched_port *port;
	unsigned int id;
	bool producer;
	bool attached;            /* under the lock; the core itself, any time */
	uint8_t local_priorities; /* bits: there are events in local queues */
	bool dispatching;         /* others look */
	uint32_t nb_holds;        /* of who runs something here, and wants the core after that */
	uint32_t attention;       /* others set it: there are calls, or events that wait */
	uint32_t stop;            /* others set it */

	/* The receive function that runs. */
	struct em_queue *queue;
	weir_em_object object; /* as it began: another one may have its number by now */
	uint64_t event_group;  /* of its events */
	const uint8_t *slots;  /* rte_event::impl_opaque of each, as it came */
	uint16_t nb_batch;
	bool has_context;             /* they came from the scheduler */
	bool ended;                   /* released early */
	uint32_t serial;              /* of the call, below EM_GONE */
	struct em_op *op;             /* a start function runs: events that it sends are kept */
	const struct em_frame *outer; /* a start or stop function runs, in functions of these */

	struct em_count *queues, *objects, *pools;
	weir_em_pool
		pool; /* buffers are taken from it just now, or it is looked for; others wait */
	uint64_t *started; /* by object: which of its starts was done here */
	struct weir_em_stats stats;

	uint32_t held[256]; /* by impl_opaque: serial of the call that holds it; or EM_GONE, too */
	struct em_local local[WEIR_EM_PRIORITIES];
	struct rte_event events[WEIR_EM_BURST_MAX];
	uint8_t event_slots[WEIR_EM_BURST_MAX];

	/* Under the lock. */
	bool leaving;
	struct em_call_node *calls, **calls_end;
} EM_LINE;

/* An event that the machine itself is to send, when there is room. call.c */
struct em_deferred {
	struct em_deferred *next;
	weir_em_queue queue;
	weir_em_event_group group;
	struct rte_event event;
};

struct em_deferred_list {
	struct em_deferred *first, **end;
};

#define EM_CALLBACKS 8
#define EM_POLLS     4

/*
 * Never changed, but replaced: cores may be calling those of an older list. They are freed when the instance ends; until then
 * one that is wanted again is taken again.
 */
struct em_callbacks {
	struct em_callbacks *older;
	unsigned int nb;
	struct {
		weir_em_dispatch_callback_t function;
		void *arg;
	} list[EM_CALLBACKS];
};

/* Never changed, but replaced: a core may be calling it. */
struct em_poll {
	weir_em_poll_t function;
	void *arg;
};

struct weir_em {
	/* Read per event. */
	struct em_queue *queues;
	unsigned int nb_queues;
	int meta_offset;                   /* of struct em_meta in mbufs */
	bool needs_fence;                  /* there is no em_barrier() */
	bool uses_groups;                  /* any: event groups have been made */
	uint32_t stop;                     /* any */
	unsigned int nb_polls;             /* any: there is none from here on */
	struct em_callbacks *callbacks[2]; /* any: before and after receive functions; NULL: none */
	struct em_callbacks *callback_lists; /* all that were made, under the lock */
	uint32_t (*aliases)
		[256]; /* [sched queue][priority]: event_dsw changes flows of parallel events */
	/* Event groups: nb events of a group have been processed, or dropped. @core NULL: none. Set once, before uses_groups. */
	void (*group_processed)(struct weir_em *em, struct weir_em_core *core,
		weir_em_event_group group, uint32_t nb);

	struct weir_em_core *cores; /* workers, producers, and one for who has none */
	unsigned int nb_cores, nb_producers, nb_ports;
	struct weir_sched *sched;
	struct weir_em_config config; /* defaults filled in */
	bool by_event;                /* a sched queue has all types and priorities of a group */
	unsigned int nb_types, nb_priorities;
	char name[WEIR_EM_NAME_SIZE];

	pthread_mutex_t control_lock; /* recursive: has cores[nb_ports - 1] */
	pthread_mutex_t lock;
	uint64_t attached; /* mask of workers */
	struct em_object *objects;
	struct em_queue_group *groups;
	struct em_pool *pools;
	struct em_numbers object_numbers, queue_numbers, group_numbers, pool_numbers;
	struct em_queue *dying, *dying_last; /* queues that were deleted, the first one first */
	unsigned int nb_dying;
	uint64_t nb_starts;
	uint32_t instance; /* for handles */
	struct weir_em_queue_stats
		retired[WEIR_EM_QUEUE_TYPES]; /* of queues whose numbers are free */
	struct em_deferred_list deferred;     /* events that wait to be sent */
	bool flushing;
	uint64_t nb_flushes;             /* of who is flushing, this and the next */
	uint64_t blocked;                /* as em_queue::blocked, of all scheduled queues */
	struct em_poll *polls[EM_POLLS]; /* any: NULL: none */

	weir_em_error_handler_t error_handler; /* under the lock, but when it runs */
	void *error_arg;
	uint64_t error_logged_ns, nb_foreign_errors, nb_unlogged;
	uint64_t foreign_sent, foreign_received; /* without a core: atomic */
	uint64_t foreign_dropped[WEIR_EM_DROPS];

	/* Event groups' and timers' own. They are told when the instance ends. */
	void *event_groups, *timers;
	void (*event_groups_fini)(struct weir_em *em);
	void (*timers_fini)(struct weir_em *em);
	/* By weir_em_destroy(): who takes what is left; NULL: buffers are freed. */
	void (*drain)(void *arg, weir_em_queue queue, struct rte_event *event);
	void *drain_arg;
};

/* One writer, any readers. Who reads that something was received, sees what was done with it. */
static inline void
em_count(uint64_t *counter, uint64_t nb)
{
	__atomic_store_n(counter, *counter + nb, __ATOMIC_RELEASE);
}

static inline uint64_t
em_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

static inline void
em_add(uint64_t *counter, uint64_t nb)
{
	__atomic_fetch_add(counter, nb, __ATOMIC_SEQ_CST);
}

/* ---- control ---- */

/* All threads of the process execute a fence. em.c */
void em_barrier(const struct weir_em *em);

/* The other side of em_barrier(): between what is counted and what is looked at. */
static inline void
em_light_fence(const struct weir_em *em)
{
	if (unlikely(em->needs_fence))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void
em_lock(const struct weir_em *em)
{
	pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&em->lock);
}

static inline void
em_unlock(const struct weir_em *em)
{
	pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&em->lock);
}

/* NULL with rte_errno. */
#define em_fail(error) (rte_errno = (error), WEIR_EM_NONE)

/* A name that fits, copied; NULL is "". */
int em_copy_name(char *to, const char *name, const char *what);

/* call.c: what each core does at the beginning of a round. */
struct em_call_node {
	struct em_call_node *next;
	struct em_call *call;
};

struct em_call {
	/* On each core; NULL: nothing, it is only that receive functions have ended. */
	int (*run)(struct weir_em_core *core, struct em_call *call);
	/* After the last one, by its thread, or the caller's if there were no cores (@core NULL then, or the caller's). */
	void (*done)(struct weir_em *em, struct weir_em_core *core, struct em_call *call);
	struct weir_em *em;
	struct em_object *object;                 /* for run and done */
	void *arg;                                /* likewise */
	struct em_op *op;                         /* likewise */
	struct weir_em_notification notification; /* queue WEIR_EM_NONE: nobody is told */
	uint64_t left;                            /* cores that have not done it yet */
	int32_t nb_left;
	bool quiesce;                      /* cores that are in no receive function need not come */
	weir_em_object strict;             /* they must not be in that while they wait, either */
	const struct weir_em_core *caller; /* it may be in the object all the same */
	int32_t nb_users;                  /* what still has a pointer to it */
	int result;                        /* the first that failed */
	uint32_t finished;
	struct em_call_node nodes[WEIR_EM_CORES_MAX];
};

struct em_call *em_call_make(struct weir_em *em, const struct weir_em_notification *notification);
/* Under the lock: all cores that are attached get it. em_call_start() follows without the lock. */
void em_call_post(struct em_call *call);
/* Done here by now, if there were no cores. */
void em_call_start(struct em_call *call, struct weir_em_core *core);
/* How long somebody has waited. */
struct em_patience {
	uint64_t end_ns;
};

/* Again in a loop that waits for @cores (bits); the log tells who waits so, when that takes long. */
void em_wait_a_little(
	const struct weir_em *em, struct em_patience *patience, uint64_t cores, const char *what);
/* Until it is finished. @return its result. The caller's pointer is gone then. */
int em_call_wait(struct em_call *call, struct weir_em_core *core);
/* Likewise, but does not wait. */
void em_call_put(struct em_call *call);
/* Until no core but the caller's is in a receive function that it was in before. */
int em_quiesce(struct weir_em *em, struct weir_em_core *core, struct em_object *strict);
/* Wake cores: look into calls and deferred events. */
void em_attention(struct weir_em *em);
/* What core->attention asks for. */
void em_attend(struct weir_em_core *core);
/*
 * Its event is the machine's until it is sent, or given up: it is the application's again then.
 *
 * @return 0; -EINVAL, -ESTALE: its queue is not there; -EFAULT: as em_keep()
 */
int em_notification_keep(struct weir_em *em, struct weir_em_core *core,
	const struct weir_em_notification *notification, const char *where);
void em_notification_give_up(
	const struct weir_em *em, const struct weir_em_notification *notification);

/* call.c: events that the machine sends for others */
int em_defer(struct em_deferred_list *list, weir_em_queue queue, const struct rte_event *event,
	weir_em_event_group group);
/* What is in the list is sent, or waits. */
void em_deferred_move(struct weir_em *em, struct weir_em_core *core, struct em_deferred_list *list);
/* What is in the list is dropped. */
void em_deferred_drop(struct weir_em *em, struct weir_em_core *core, struct em_deferred_list *list);
void em_deferred_flush(struct weir_em *em, struct weir_em_core *core);

/* start.c: events that a start function sends */
struct em_op {
	struct weir_em *em;
	pthread_mutex_t lock; /* start functions of all cores */
	struct em_deferred_list list;
};
uint16_t em_op_send(struct em_op *op, weir_em_queue queue, const struct rte_event *events,
	uint16_t nb, weir_em_event_group group);
/* A core comes, or goes: start or stop functions of what runs. */
int em_start_core(struct weir_em_core *core); /* what a core_start that failed returned */
void em_stop_core(struct weir_em_core *core);

/* core.c: the core for who has none; between these two it is the caller's */
struct weir_em_core *em_control_get(struct weir_em *em, struct weir_em_core *core);
/* Event devices wait for ports that nobody calls: this is for those that are nobody's. */
void em_look_after_ports(struct weir_em_core *core);
void em_control_put(struct weir_em *em, struct weir_em_core *core);

/* object.c, under the lock: the object of a handle; NULL with *error */
struct em_object *em_object_of(struct weir_em *em, weir_em_object handle, int *error);

/* queue.c, under the lock */
struct em_queue *em_queue_of(struct weir_em *em, weir_em_queue handle, int *error);
void em_queue_retarget(struct em_queue *queue); /* who gets its events now? */
void em_queue_link(struct em_queue *queue, struct em_object *object);
void em_queue_unlink(struct em_queue *queue);
void em_queue_sums(
	const struct weir_em *em, const struct em_queue *queue, struct weir_em_queue_stats *sums);
void em_queue_reclaim(struct weir_em *em);
void em_queues_fini(struct weir_em *em);

/* queue_group.c */
int em_groups_init(struct weir_em *em);
/* Under the lock: the scheduler's masks, by which cores are attached. */
int em_group_apply(struct weir_em *em, unsigned int group);
/* Under the lock: nothing is left of one of its queues, which was deleted. */
void em_group_forget_queue(struct weir_em *em, unsigned int group);
int em_groups_apply(struct weir_em *em);
struct em_queue_group *em_group_of(struct weir_em *em, weir_em_queue_group handle, int *error);
/* In the scheduler's words, of a scheduled one. */
uint8_t em_sched_type(enum weir_em_queue_type type);
/* The scheduler's queue for these; it has been checked that there is one. */
uint8_t em_sched_queue(
	const struct weir_em *em, enum weir_em_queue_type type, uint8_t priority, uint8_t group);

/* ring.c: any thread */
struct rte_ring *em_ring_create(uint32_t size, int socket_id);
void em_ring_free(struct rte_ring *ring);
uint16_t em_ring_put(struct rte_ring *ring, const struct rte_event *events, uint16_t nb);
uint16_t em_ring_get(struct rte_ring *ring, struct rte_event *events, uint16_t nb);

/* local.c: by the core */
int em_local_init(struct weir_em_core *core);
void em_local_fini(struct weir_em_core *core);
uint16_t em_local_send(struct weir_em_core *core, const struct em_queue *queue,
	const struct rte_event *events, uint16_t nb);
void em_local_drop(struct weir_em_core *core);
uint16_t em_local_dispatch(struct weir_em_core *core, uint16_t burst);

struct weir_em_event_group_info;

/* dump.c, for ctl.c too */
const char *em_event_group_state_name(const struct weir_em_event_group_info *info);
const char *em_state_name(enum weir_em_object_state state);
const char *em_core_doing(const struct weir_em *em, unsigned int id);
uint64_t em_next(struct weir_em *em, enum em_kind kind, uint32_t *at);
int em_group_look(struct weir_em *em, weir_em_queue_group handle, struct em_queue_group *copy);

/* pool.c */
int em_meta_register(struct weir_em *em);
void em_pools_fini(struct weir_em *em);

#endif
