/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Flows go from one shard to another: a class of them, or all that were divided to a shard. When that is worth its while:
 * balance.c, gather.c; how it is done when all have answered: move_flows.c.
 *
 * Where events go is looked up without a lock, and those of a flow come by the rings of several ports. So that none that went the old
 * way is passed by one that goes the new way, there is a while in which none goes by a ring:
 *
 *     builtin->move names them         each port answers when it enqueues next: from now on its events of these flows go in under
 *                                      the lock of where they are for just then
 *     all have answered                under all locks: the rings are emptied, so that all that went the old way, and what followed from
 *                                      events of these flows, is in the lists that it is for; what follows next may be sent by others.
 *                                      Classes of which no flow is held, and no ordered event is out, are the other shard's from
 *                                      then on; what waits for them is brought along under the locks of both. What follows from
 *                                      ordered events is sent by shards, under their locks: not meanwhile
 *     builtin->move names none         each port uses rings again when it enqueues next
 *
 * Who has not enqueued since the start need not answer: its first call makes itself known, and then reads the word, while who moves writes
 * the word, and then reads who is known. Nor need those who do not enqueue just then, which a fence tells (fence.h): they will read the word
 * first. When somebody does not answer for long, the move is given up. Should who asked not come back, others do that.
 * Should it lose its CPU in the middle of the move itself, all wait for it, as for who has any lock.
 *
 * Parallel queues' flows of the class go along: where what is new of them goes to. What is there already stays.
 */

#include "fence.h"
#include "move.h"

/* The word: how often it changed, what it says, and of which flows: a class, or those that were divided to a shard. */
#define MOVE_WHICH 0xffu
#define MOVE_OF    0x100u
#define MOVE_ASKED 0x200u
#define MOVE_FINAL 0x400u /* nobody gives up any more */
#define MOVE_STEP  0x800u
#define MOVE_NEVER MOVE_FINAL /* it never says that */

/* When somebody does not answer it is asked again after so many times the patience at most. */
#define PAUSES_MAX 1000

/* It is given up, or what is left of it, when something was held each time, or a lock could not be had. */
#define MOVE_TRIES 16

/* Does the configuration allow it? */
bool
move_may(const struct builtin *builtin)
{
	const struct weir_sched_config *config = &builtin->sched->config;

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

/* So many cycles ago it was asked, or longer. Others may have asked just now. */
static bool
is_old(const struct builtin *builtin, uint64_t cycles)
{
	const uint64_t asked_at = __atomic_load_n(&builtin->move_asked_at, __ATOMIC_RELAXED);

	return (int64_t)(weir_base_cycles() - asked_at) > (int64_t)cycles;
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
		port->move.by_lock = (uint16_t)((word & (MOVE_OF | MOVE_WHICH)) + 1);
		/* Who asked may not come any more. */
		if ((word & MOVE_FINAL) == 0 && is_old(builtin, 2 * builtin->move_patience))
			stop_asking(builtin, word);
	} else {
		port->move.by_lock = 0;
		port->move.open = word;
	}
	/* "final" asks for nothing else. */
	__atomic_store_n(&port->move.answered, word & ~MOVE_FINAL, __ATOMIC_RELEASE);
}

/* It does what the word says, or will before it puts in anything. */
static bool
knows(const struct builtin_port *port, uint32_t word, bool is_fenced)
{
	return __atomic_load_n(&port->move.answered, __ATOMIC_ACQUIRE) == word ||
	       (is_fenced && __atomic_load_n(&port->move.is_inside, __ATOMIC_ACQUIRE) == 0);
}

static bool
all_know(const struct builtin *builtin, uint32_t word, bool is_fenced)
{
	uint64_t left = __atomic_load_n(&builtin->askable, __ATOMIC_SEQ_CST);

	for (; left != 0; left &= left - 1)
		if (!knows(&builtin->ports[__builtin_ctzll(left)], word, is_fenced))
			return false;
	return true;
}

/* By who asked. */
static bool
all_have_answered(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;

	if (all_know(builtin, port->move.own, port->move.is_fenced))
		return true;
	if (port->move.is_fenced || !builtin->may_fence || !is_old(builtin, builtin->fence_after))
		return false;
	port->move.is_fenced = fence_all();
	return all_know(builtin, port->move.own, port->move.is_fenced);
}

bool
move_is_asked_of(const struct builtin *builtin, unsigned int shard)
{
	const uint32_t which = MOVE_ASKED | MOVE_OF | shard;
	uint32_t word;

	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* see is_still_its_own() */
	word = __atomic_load_n(&builtin->move, __ATOMIC_SEQ_CST);
	return (word & (MOVE_ASKED | MOVE_OF | MOVE_WHICH)) == which;
}

/*
 * What was divided to a shard is moved only by who has that. Who gets it meanwhile sees by is_gathered that it was moved, and by the word that it
 * is about to be, or is seen here.
 */
static bool
is_still_its_own(struct builtin_port *port, const struct move_flows *flows)
{
	struct shard *shard;

	if (flows->of == MOVE_OF_ANY)
		return true;
	shard = &port->builtin->shards[flows->of];
	if (shard != port->home)
		__atomic_store_n(&shard->is_gathered, true, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return shard_owner(shard) == port->base.id;
}

void
move_go_on(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;
	const uint32_t word = port->move.own, final = word | MOVE_FINAL;
	const bool answered = all_have_answered(port);
	enum moved moved = MOVED_ALL;

	if (!answered && is_old(builtin, builtin->move_patience))
		stop_asking(builtin, word);
	if (__atomic_load_n(&builtin->move, __ATOMIC_RELAXED) != word) {
		port->move.own = 0; /* others may have given it up, too */
		return;
	}
	if (!answered || !say(builtin, word, final))
		return;
	if (is_still_its_own(port, &port->move.flows))
		moved = move_now(port, &port->move.flows);
	if (moved != MOVED_NONE)
		__atomic_store_n(&builtin->move_pause, 0, __ATOMIC_RELAXED);
	if (moved == MOVED_SOME)
		port->move.nb_tries = 0;
	if (moved == MOVED_ALL || ++port->move.nb_tries >= MOVE_TRIES) {
		port->move.own = 0;
		__atomic_store_n(&builtin->move, word_after(word, 0), __ATOMIC_RELEASE);
	} else {
		__atomic_store_n(&builtin->move, word, __ATOMIC_RELEASE);
	}
}

bool
move_ask(struct builtin_port *port, struct move_flows flows)
{
	struct builtin *builtin = port->builtin;
	const uint32_t word = __atomic_load_n(&builtin->move, __ATOMIC_ACQUIRE);
	const uint32_t which = flows.of == MOVE_OF_ANY ? flows.class : MOVE_OF | flows.of;
	const uint32_t asked = word_after(word, MOVE_ASKED | which);
	const uint64_t now = weir_base_cycles();

	if (!builtin->may_move || (word & MOVE_ASKED) != 0 || port->move.own != 0 ||
		shard_owner(port->home) != port->base.id ||
		now < __atomic_load_n(&builtin->move_not_before, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&builtin->move_asked_at, now, __ATOMIC_RELAXED);
	if (!say(builtin, word, asked))
		return false;
	port->move.own = asked;
	port->move.flows = flows;
	port->move.nb_tries = 0;
	port->move.is_fenced = false;
	return true;
}
