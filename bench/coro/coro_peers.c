/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Other ways to have coroutines, each used in the way that serves it best: contexts switch with nothing around, stacks come from one
 * pool without locks, which is an array whose last one was used last.
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <rte_common.h>

#include "coro_bench.h"

struct coro_counter coro_peer_yields;
uint64_t coro_peer_ended;

static int
pool_init(struct coro_peer *peer)
{
	peer->stacks = mmap(NULL, CORO_POOL * CORO_STACK_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (peer->stacks == MAP_FAILED) {
		peer->stacks = NULL;
		return -errno;
	}
	peer->nb_created = 0;
	peer->nb_free = 0;
	return 0;
}

static void
pool_fini(struct coro_peer *peer)
{
	if (peer->stacks != NULL)
		munmap(peer->stacks, CORO_POOL * CORO_STACK_BYTES);
	peer->stacks = NULL;
}

#ifdef WEIR_BENCH_WITH_FCONTEXT

/* The C interface that boost::context::fiber is made of; its headers are C++. */
typedef void *fcontext_t;

struct transfer {
	fcontext_t from;
	void *data;
};

struct transfer jump_fcontext(fcontext_t to, void *data);
fcontext_t make_fcontext(void *top, size_t size, void (*run)(struct transfer));

static int
fcontext_init(struct coro_peer *peer)
{
	int rc = pool_init(peer);

	/* The pool's entries are tops of stacks: what make_fcontext() wants. */
	for (unsigned int i = 0; rc == 0 && i < CORO_POOL; i++)
		peer->free[peer->nb_free++] = peer->stacks + (i + 1) * CORO_STACK_BYTES;
	peer->own = NULL;
	return rc;
}

static void
yield_for_ever(struct transfer resumer)
{
	uint64_t nb = 0;

	coro_count_by(&coro_peer_yields, &nb);
	for (;; resumer = jump_fcontext(resumer.from, NULL))
		nb++;
}

static void
end_at_once(struct transfer resumer)
{
	coro_peer_ended++;
	jump_fcontext(resumer.from, NULL);
	abort(); /* who has ended is not resumed */
}

/* Its stack is not given back: the pool goes as a whole. */
static void
fcontext_prepare(void *arg)
{
	struct coro_peer *peer = arg;

	if (peer->own == NULL)
		peer->own = make_fcontext(
			peer->free[--peer->nb_free], CORO_STACK_BYTES, yield_for_ever);
}

static void
fcontext_rounds(void *arg, uint64_t nb)
{
	struct coro_peer *peer = arg;
	fcontext_t to = peer->own;

	for (uint64_t i = 0; i < nb; i++)
		to = jump_fcontext(to, NULL).from;
	peer->own = to;
}

static void
fcontext_creates(void *arg, uint64_t nb)
{
	struct coro_peer *peer = arg;
	fcontext_t made;

	for (uint64_t i = 0; i < nb; i++) {
		void *top = peer->free[--peer->nb_free];

		made = make_fcontext(top, CORO_STACK_BYTES, end_at_once);
		peer->nb_created += made != NULL;
		peer->free[peer->nb_free++] = top;
	}
}

static void
fcontext_runs(void *arg, uint64_t nb)
{
	struct coro_peer *peer = arg;

	for (uint64_t i = 0; i < nb; i++) {
		void *top = peer->free[--peer->nb_free];

		jump_fcontext(make_fcontext(top, CORO_STACK_BYTES, end_at_once), NULL);
		peer->nb_created++;
		peer->free[peer->nb_free++] = top;
	}
}

struct coro_peer *
coro_peer_fcontext(void)
{
	static struct coro_peer peer = {
		.name = "fcontext",
		.init = fcontext_init,
		.fini = pool_fini,
		.prepare = fcontext_prepare,
		.slice_rounds = fcontext_rounds,
		.slice_creates = fcontext_creates,
		.slice_runs = fcontext_runs,
	};

	return &peer;
}

#else

struct coro_peer *
coro_peer_fcontext(void)
{
	return NULL;
}

#endif

static ucontext_t contexts[CORO_POOL], resumer_context;

/* On its own: it is a function that compilers expect to return twice. */
static __attribute__((noinline)) int
take_context(ucontext_t *context)
{
	return getcontext(context);
}

/* getcontext(2) asks the kernel for the signal mask: once for each, not at each creation. */
static int
ucontext_init(struct coro_peer *peer)
{
	int rc = pool_init(peer);

	for (unsigned int i = 0; rc == 0 && i < CORO_POOL; i++) {
		if (take_context(&contexts[i]) != 0)
			rc = -errno;
		contexts[i].uc_stack.ss_sp = peer->stacks + i * CORO_STACK_BYTES;
		contexts[i].uc_stack.ss_size = CORO_STACK_BYTES;
		contexts[i].uc_link = &resumer_context;
		peer->free[peer->nb_free++] = &contexts[i];
	}
	peer->own = NULL;
	return rc;
}

static void
ucontext_yield_for_ever(void)
{
	ucontext_t *own = coro_peer_ucontext()->own;
	uint64_t nb = 0;

	coro_count_by(&coro_peer_yields, &nb);
	for (;; swapcontext(own, &resumer_context))
		nb++;
}

/* Returning goes on with uc_link: one system call less than swapping. */
static void
ucontext_end_at_once(void)
{
	coro_peer_ended++;
}

static void
ucontext_prepare(void *arg)
{
	struct coro_peer *peer = arg;

	if (peer->own != NULL)
		return;
	peer->own = peer->free[--peer->nb_free];
	makecontext(peer->own, ucontext_yield_for_ever, 0);
}

static void
ucontext_rounds(void *arg, uint64_t nb)
{
	struct coro_peer *peer = arg;

	for (uint64_t i = 0; i < nb; i++)
		swapcontext(&resumer_context, peer->own);
}

static void
ucontext_creates(void *arg, uint64_t nb)
{
	struct coro_peer *peer = arg;

	for (uint64_t i = 0; i < nb; i++) {
		ucontext_t *made = peer->free[--peer->nb_free];

		makecontext(made, ucontext_end_at_once, 0);
		peer->nb_created++;
		peer->free[peer->nb_free++] = made;
	}
}

static void
ucontext_runs(void *arg, uint64_t nb)
{
	struct coro_peer *peer = arg;

	for (uint64_t i = 0; i < nb; i++) {
		ucontext_t *made = peer->free[--peer->nb_free];

		makecontext(made, ucontext_end_at_once, 0);
		swapcontext(&resumer_context, made);
		peer->nb_created++;
		peer->free[peer->nb_free++] = made;
	}
}

struct coro_peer *
coro_peer_ucontext(void)
{
	static struct coro_peer peer = {
		.name = "ucontext",
		.init = ucontext_init,
		.fini = pool_fini,
		.prepare = ucontext_prepare,
		.slice_rounds = ucontext_rounds,
		.slice_creates = ucontext_creates,
		.slice_runs = ucontext_runs,
	};

	return &peer;
}
