/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A class of flows goes from one shard to another. When that is worth its while: move_when.c.
 *
 * Where events go is looked up without a lock, and those of a flow come by the rings of several ports. So that none that went the old
 * way is passed by one that goes the new way, there is a while in which none goes by a ring:
 *
 *     builtin->move names the class    each port answers when it enqueues next: from now on its events of that class go in under
 *                                      the lock of where they are for just then
 *     all have answered                under the lock: the shard's rings are emptied, so that all that went the old way is in its
 *                                      lists. If no flow of the class has any of it, or is held, they are the other shard's,
 *                                      where they are held by nobody, and what comes waits
 *     without a lock                   what followed from events of these flows by then, and is in any ring, goes to the lists
 *                                      that it is for: what follows next will be sent by others
 *     under the other shard's lock     they are held no more
 *     builtin->move names none         each port uses rings again when it enqueues next
 *
 * Who has not enqueued since the start need not answer: its first call makes itself known, and then reads the word, while who moves writes
 * the word, and then reads who is known. When somebody does not answer for long, the move is given up. Should who asked not come back, others do that.
 * Should it lose its CPU in the middle of the move itself, which takes microseconds, what comes for these flows waits for it.
 *
 * With ordered queues nothing is moved: what shards send by their own rings waits for no answer.
 */

#include "move.h"
#include "owner.h"

/* The word: how often it changed, what it says, and of which class. */
#define MOVE_CLASS 0xffu
#define MOVE_ASKED 0x100u
#define MOVE_FINAL 0x200u /* nobody gives up any more */
#define MOVE_STEP  0x400u
#define MOVE_NEVER MOVE_FINAL /* it never says that */

/* When somebody does not answer it is asked again after so many times the patience at most. */
#define PAUSES_MAX 1000

/* It is given up when flows of the class had events each time. */
#define MOVE_TRIES 16

/* Lanes of a class, in all queues, that are looked at under the lock. */
#define MOVE_LANES_MAX 1024

static bool
is_movable(const struct queue_info *queue)
{
	return queue->type == RTE_SCHED_TYPE_ATOMIC &&
	       __atomic_load_n(&queue->state, __ATOMIC_ACQUIRE) == QUEUE_USED;
}

/* Does the configuration allow it? */
bool
move_may(const struct builtin *builtin)
{
	const struct weir_sched_config *config = &builtin->sched->config;

	for (unsigned int i = 0; i < config->nb_queues; i++)
		if (builtin->queues[i].type == RTE_SCHED_TYPE_ORDERED ||
			builtin->queues[i].type == WEIR_SCHED_TYPE_BY_EVENT)
			return false;
	return builtin->nb_shards > 1 && builtin->class_mask > 0 &&
	       config->nb_queues << builtin->in_class_bits <= MOVE_LANES_MAX;
}

void
move_reset(struct builtin *builtin)
{
	builtin->move = (builtin->move | (MOVE_STEP - 1)) + 1 + MOVE_STEP;
	builtin->askable = 0;
	builtin->move_asked_at = builtin->move_not_before = builtin->move_pause = 0;
	for (unsigned int i = 0; i < builtin->sched->config.nb_ports; i++)
		builtin->ports[i].move = (struct port_move){.open = MOVE_NEVER};
}

/* What it says changes. @return false: somebody else has changed it */
static bool
say(struct builtin *builtin, uint32_t before, uint32_t now)
{
	return __atomic_compare_exchange_n(
		&builtin->move, &before, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static uint32_t
word_after(uint32_t word, uint32_t what)
{
	return (word & ~(MOVE_STEP - 1)) + MOVE_STEP + what;
}

/* So many times the patience ago it was asked, or longer. Others may have asked just now. */
static bool
is_old(const struct builtin *builtin, uint64_t times)
{
	const uint64_t asked_at = __atomic_load_n(&builtin->move_asked_at, __ATOMIC_RELAXED);

	return (int64_t)(weir_base_cycles() - asked_at) > (int64_t)(times * builtin->move_patience);
}

/* Somebody does not answer, and will not do so soon: others ask again after a while, which is twice as long each time. */
static void
stop_asking(struct builtin *builtin, uint32_t word)
{
	uint64_t pause = 2 * __atomic_load_n(&builtin->move_pause, __ATOMIC_RELAXED);

	if (!say(builtin, word, word_after(word, 0)))
		return;
	pause = RTE_MAX(pause, builtin->move_patience);
	pause = RTE_MIN(pause, PAUSES_MAX * builtin->move_patience);
	__atomic_store_n(&builtin->move_pause, pause, __ATOMIC_RELAXED);
	__atomic_store_n(&builtin->move_not_before, weir_base_cycles() + pause, __ATOMIC_RELAXED);
}

void
move_answer(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;
	uint32_t word;

	if (port->move.answered == 0)
		__atomic_fetch_or(
			&builtin->askable, (uint64_t)1 << port->base.id, __ATOMIC_SEQ_CST);
	word = __atomic_load_n(&builtin->move, __ATOMIC_SEQ_CST);
	if ((word & MOVE_ASKED) != 0) {
		port->move.by_lock = (uint16_t)((word & MOVE_CLASS) + 1);
		/* Who asked may not come any more. */
		if ((word & MOVE_FINAL) == 0 && is_old(builtin, 2))
			stop_asking(builtin, word);
	} else {
		port->move.by_lock = 0;
		port->move.open = word;
	}
	/* "final" asks for nothing else. */
	__atomic_store_n(&port->move.answered, word & ~MOVE_FINAL, __ATOMIC_RELEASE);
}

static bool
all_have_answered(const struct builtin *builtin, uint32_t word)
{
	uint64_t left = __atomic_load_n(&builtin->askable, __ATOMIC_SEQ_CST);

	for (; left != 0; left &= left - 1)
		if (__atomic_load_n(&builtin->ports[__builtin_ctzll(left)].move.answered,
			    __ATOMIC_ACQUIRE) != word)
			return false;
	return true;
}

/* Of a queue. */
static struct lane *
lanes_of_class(const struct builtin *builtin, const struct queue_info *queue, uint32_t class)
{
	return &queue->lanes[(size_t) class << builtin->in_class_bits];
}

/* A queue's flows of the class go along? */
static bool
goes_along(const struct queue_info *queue, uint32_t class, const struct shard *from)
{
	return is_movable(queue) &&
	       __atomic_load_n(&queue->shard_of[class], __ATOMIC_RELAXED) == from->id;
}

/* Under the lock: there is nothing in any flow of the class, and the port may have what will be. */
static bool
can_go(const struct builtin_port *port, const struct shard *from, uint32_t class)
{
	const struct builtin *builtin = port->builtin;
	const uint64_t groups =
		__atomic_load_n(&builtin->port_groups[port->base.id], __ATOMIC_RELAXED);

	for (unsigned int q = 0; q < builtin->sched->config.nb_queues; q++) {
		const struct queue_info *queue = &builtin->queues[q];
		const struct lane *lanes = lanes_of_class(builtin, queue, class);

		if (!goes_along(queue, class, from))
			continue;
		if ((groups >> queue->group & 1) == 0)
			return false;
		for (uint32_t i = 0; i < 1u << builtin->in_class_bits; i++)
			if (lanes[i].state != LANE_IDLE)
				return false;
	}
	return true;
}

/* Under the lock. What comes from now on is for the other shard, and waits there. */
static void
hand_over(struct builtin *builtin, const struct shard *from, struct shard *to, uint32_t class)
{
	for (unsigned int q = 0; q < builtin->sched->config.nb_queues; q++) {
		struct queue_info *queue = &builtin->queues[q];
		struct lane *lanes = lanes_of_class(builtin, queue, class);

		if (!goes_along(queue, class, from))
			continue;
		for (uint32_t i = 0; i < 1u << builtin->in_class_bits; i++)
			lanes[i] = (struct lane){.nb_held = 1, .state = LANE_MOVED};
		__atomic_fetch_or(&to->groups, (uint64_t)1 << queue->group, __ATOMIC_RELAXED);
		__atomic_store_n(&queue->shard_of[class], (uint8_t)to->id, __ATOMIC_RELEASE);
	}
}

/* What came meanwhile need not wait any more. No lock is held. */
static void
let_go(struct builtin *builtin, struct shard *to, uint32_t class)
{
	shard_lock(to);
	for (unsigned int q = 0; q < builtin->sched->config.nb_queues; q++) {
		struct queue_info *queue = &builtin->queues[q];
		struct lane *lanes = lanes_of_class(builtin, queue, class);

		if (!goes_along(queue, class, to))
			continue;
		for (uint32_t i = 0; i < 1u << builtin->in_class_bits; i++)
			if (lanes[i].state == LANE_MOVED)
				shard_release(to, &lanes[i], false);
	}
	shard_unlock(to);
}

/* All have answered. @return false: there was something in it */
static bool
try_to_move(struct builtin_port *port, struct shard *from, uint32_t class)
{
	struct builtin *builtin = port->builtin;
	bool goes;

	if (!shard_trylock(from))
		return false;
	shard_take_back(from, false);
	shard_drain_rings(from);
	goes = can_go(port, from, class);
	if (goes)
		hand_over(builtin, from, port->home, class);
	shard_unlock(from);
	if (!goes)
		return false;
	owner_empty_rings(builtin, NO_SENDER);
	let_go(builtin, port->home, class);
	__atomic_store_n(&builtin->move_pause, 0, __ATOMIC_RELAXED);
	count(&port->nb_moved, 1);
	return true;
}

void
move_go_on(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;
	const uint32_t word = port->move.own, final = word | MOVE_FINAL;
	bool is_done;

	if (!all_have_answered(builtin, word) && is_old(builtin, 1))
		stop_asking(builtin, word);
	if (__atomic_load_n(&builtin->move, __ATOMIC_RELAXED) != word) {
		port->move.own = 0; /* others may have given it up, too */
		return;
	}
	if (!all_have_answered(builtin, word) || !say(builtin, word, final))
		return;
	is_done = try_to_move(port, &builtin->shards[port->move.from], word & MOVE_CLASS);
	if (is_done || ++port->move.nb_tries >= MOVE_TRIES) {
		port->move.own = 0;
		__atomic_store_n(&builtin->move, word_after(word, 0), __ATOMIC_RELEASE);
	} else {
		__atomic_store_n(&builtin->move, word, __ATOMIC_RELEASE);
	}
}

/* Is any flow of the class there? */
static bool
has_class(const struct builtin *builtin, const struct shard *from, uint32_t class)
{
	for (unsigned int q = 0; q < builtin->sched->config.nb_queues; q++)
		if (goes_along(&builtin->queues[q], class, from))
			return true;
	return false;
}

bool
move_ask(struct builtin_port *port, const struct shard *from, uint32_t class)
{
	struct builtin *builtin = port->builtin;
	const uint32_t word = __atomic_load_n(&builtin->move, __ATOMIC_ACQUIRE);
	const uint32_t asked = word_after(word, MOVE_ASKED | class);
	const uint64_t now = weir_base_cycles();

	if (!builtin->may_move || (word & MOVE_ASKED) != 0 || port->move.own != 0 ||
		from == port->home || shard_owner(port->home) != port->base.id ||
		!has_class(builtin, from, class) ||
		now < __atomic_load_n(&builtin->move_not_before, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&builtin->move_asked_at, now, __ATOMIC_RELAXED);
	if (!say(builtin, word, asked))
		return false;
	port->move.own = asked;
	port->move.from = (uint8_t)from->id;
	port->move.nb_tries = 0;
	return true;
}
