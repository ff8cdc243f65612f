/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coroutines that can be watched while they run:
 *
 *     cc -O2 watched.c -o watched $(pkg-config --cflags --libs weir)
 *     ./watched shop 10 &
 *     weir stats coro --instance shop
 *
 * For so many seconds one thread resumes two kinds of them in turns, each on stacks of its own class, and begins a new one where one has
 * ended. At the end it tells how many there were: what the control socket told before cannot be more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir_base.h>
#include <weir_base_ctl.h>
#include <weir_coro.h>
#include <weir_coro_ctl.h>

enum { CLASS_SHALLOW, CLASS_DEEP, NB_CLASSES };

#define NB_ALIVE 16 /* of each class */

static uint64_t nb_ended[NB_CLASSES];

/* Give the core back when the time slice is up. Cancelled: leave at once. */
static void
go_on(void)
{
	if (weir_coro_maybe_yield())
		weir_coro_exit();
}

/* Collatz: numbers that grow and shrink until they are 1. */
static void
follow_numbers(void)
{
	const uint64_t *first = weir_coro_self_in_param(sizeof(*first));

	for (uint64_t number = *first; number < *first + 2000; number++) {
		for (uint64_t n = number; n > 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1)
			;
		go_on();
	}
}

/* As deep as the number is large: each level keeps 64 bytes on the stack. */
static uint64_t
descend(uint64_t depth)
{
	volatile uint64_t kept[8] = {depth};
	uint64_t below = 0;

	go_on();
	if (depth > 0)
		below = descend(depth - 1);
	return kept[0] % 2 + below;
}

static void
go_deep(void)
{
	const uint64_t *depth = weir_coro_self_in_param(sizeof(*depth));

	for (unsigned int i = 0; i < 100; i++)
		descend(*depth);
}

static struct weir_coro *
begin(unsigned int class_id)
{
	static uint64_t nb_begun;
	struct weir_coro *coro =
		weir_coro_create_in(class_id, class_id == CLASS_DEEP ? go_deep : follow_numbers);

	if (coro == NULL) {
		perror("create");
		exit(1);
	}
	*(uint64_t *)weir_coro_in_param(coro, sizeof(uint64_t)) =
		class_id == CLASS_DEEP ? nb_begun % 300 : nb_begun * 2000 + 1;
	nb_begun++;
	return coro;
}

static void
end(struct weir_coro *coro)
{
	weir_coro_cancel(coro);
	while (!weir_coro_has_exited(coro))
		weir_coro_resume(coro);
	weir_coro_destroy(coro);
}

static void
run_for(uint64_t ns)
{
	struct weir_coro *alive[NB_CLASSES][NB_ALIVE];
	const uint64_t over_ns = weir_base_time_ns() + ns;

	for (unsigned int c = 0; c < NB_CLASSES; c++)
		for (unsigned int i = 0; i < NB_ALIVE; i++)
			alive[c][i] = begin(c);
	while (weir_base_time_ns() < over_ns) {
		for (unsigned int k = 0; k < NB_CLASSES * NB_ALIVE; k++) {
			struct weir_coro **coro = &alive[k % NB_CLASSES][k / NB_CLASSES];

			weir_coro_resume(*coro);
			if (!weir_coro_has_exited(*coro))
				continue;
			nb_ended[k % NB_CLASSES]++;
			weir_coro_destroy(*coro);
			*coro = begin(k % NB_CLASSES);
		}
	}
	for (unsigned int k = 0; k < NB_CLASSES * NB_ALIVE; k++)
		end(alive[k % NB_CLASSES][k / NB_CLASSES]);
}

int
main(int argc, char **argv)
{
	const struct weir_coro_class_param deep = {
		.stack_size = 131072,
		.max_in_param_size = sizeof(uint64_t),
		.max_coroutines = 100,
		.time_slice = weir_base_ns_to_cycles(20000),
		.cache_size = 10,
		.socket_id = -1,
	};
	const double seconds = argc == 3 ? atof(argv[2]) : 0;
	struct weir_base_ctl *ctl;

	if (!(seconds > 0 && seconds < 1e6)) {
		fprintf(stderr, "usage: %s NAME SECONDS\n", argv[0]);
		return 2;
	}
	ctl = weir_base_ctl_open(argv[1]);
	if (ctl == NULL) {
		perror(argv[1]);
		return 1;
	}
	if (weir_coro_ctl_register(ctl) < 0 ||
		weir_coro_init(65536, sizeof(uint64_t), 0, 100, weir_base_ns_to_cycles(10000), 10,
			-1) < 0 ||
		weir_coro_class_add(&deep) != CLASS_DEEP)
		return 1;
	run_for((uint64_t)(seconds * 1e9));
	printf("ended: %" PRIu64 " shallow, %" PRIu64 " deep\n", nb_ended[CLASS_SHALLOW],
		nb_ended[CLASS_DEEP]);
	weir_coro_cleanup();
	weir_base_ctl_close(ctl);
	return 0;
}
