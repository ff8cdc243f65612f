/* SPDX-License-Identifier: BSD-3-Clause */

/* The wheel beside a list that is searched: what comes, when, in which order. */

#include "cmocka_all.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "weir_base_wheel.h"

#define ALL UINT32_MAX

static struct weir_base_wheel wheel;

static uint64_t random_state = 88172645463325252ULL;

static uint64_t
random64(void)
{
	return random_next(&random_state);
}

/* A distance of any magnitude. */
static uint64_t
random_distance(unsigned int bits)
{
	return random64() >> (64 - bits + random64() % bits);
}

static struct weir_base_wheel_entry *
pop(uint64_t now)
{
	unsigned int steps = ALL;

	return weir_base_wheel_advance(&wheel, now, &steps);
}

static void
add(struct weir_base_wheel_entry *entry, uint64_t tick)
{
	entry->tick = tick;
	weir_base_wheel_add(&wheel, entry);
}

static void
is_empty(void)
{
	assert_int_equal(wheel.nb, 0);
	assert_true(weir_base_wheel_next(&wheel) == UINT64_MAX);
	for (unsigned int level = 0; level < WEIR_BASE_WHEEL_LEVELS; level++)
		for (unsigned int slot = 0; slot < WEIR_BASE_WHEEL_SLOTS; slot++)
			assert_null(wheel.slots[level][slot]);
}

/* Each tick on its own, across the digits' ends. */
static void
exact_test(void **state)
{
	static const uint64_t ticks[] = {0, 1, 62, 63, 64, 65, 127, 128, 4095, 4096, 4097, 262143,
		262144, (UINT64_C(1) << 36) - 1, UINT64_C(1) << 36, UINT64_C(1) << 59,
		UINT64_C(1) << 60, UINT64_MAX - 1, UINT64_MAX};
	struct weir_base_wheel_entry entries[sizeof(ticks) / sizeof(ticks[0])];

	memset(&wheel, 0, sizeof(wheel));
	for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++)
		add(&entries[i], ticks[i]);
	for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		assert_true(weir_base_wheel_next(&wheel) <= ticks[i]);
		if (ticks[i] > 0)
			assert_null(pop(ticks[i] - 1));
		assert_ptr_equal(pop(ticks[i]), &entries[i]);
		assert_null(entries[i].next);
	}
	is_empty();
}

/* Of one tick, the first that was added is the first to come. */
static void
order_test(void **state)
{
	struct weir_base_wheel_entry entries[100];

	memset(&wheel, 0, sizeof(wheel));
	for (unsigned int i = 0; i < 100; i++)
		add(&entries[i], 70000);
	for (unsigned int i = 0; i < 100; i++)
		assert_ptr_equal(pop(70000), &entries[i]);
	is_empty();
}

/* What is over already comes at once. */
static void
late_test(void **state)
{
	struct weir_base_wheel_entry entries[3];

	memset(&wheel, 0, sizeof(wheel));
	assert_null(pop(1000000));
	add(&entries[0], 999999);
	add(&entries[1], 0);
	add(&entries[2], 1000001);
	assert_ptr_equal(pop(1000000), &entries[0]);
	assert_ptr_equal(pop(1000000), &entries[1]);
	assert_null(pop(1000000));
	assert_ptr_equal(pop(1000001), &entries[2]);
	is_empty();
}

/* However many are due, or move, at once: a step is a step. */
static void
steps_test(void **state)
{
	enum { NB = 10000 };
	struct weir_base_wheel_entry *entries = calloc(NB, sizeof(*entries)), *entry;
	unsigned int nb = 0, nb_calls = 0;

	memset(&wheel, 0, sizeof(wheel));
	for (unsigned int i = 0; i < NB; i++)
		add(&entries[i], 4096 * 64 + i % 3000);
	while (nb < NB) {
		unsigned int steps = 10, got = 0;

		while ((entry = weir_base_wheel_advance(&wheel, 1 << 20, &steps)) != NULL)
			got++;
		assert_true(got <= 10);
		nb += got;
		/* in the middle of it others come and go, of what moves, too */
		if (++nb_calls == 100) {
			assert_non_null(wheel.moving);
			entry = wheel.moving->prev;
			weir_base_wheel_remove(&wheel, entry);
			add(entry, entry->tick);
			entry = wheel.moving;
			weir_base_wheel_remove(&wheel, entry);
			add(entry, entry->tick);
		}
		assert_true(nb_calls < 10 * NB);
		assert_true(nb == NB || weir_base_wheel_next(&wheel) <= 1 << 20);
	}
	assert_true(nb_calls >= 2 * NB / 10);
	is_empty();
	free(entries);
}

/* The last that moves is taken out while it does. */
static void
moving_test(void **state)
{
	struct weir_base_wheel_entry entries[2];
	unsigned int steps = 1;

	memset(&wheel, 0, sizeof(wheel));
	add(&entries[0], 5000);
	add(&entries[1], 5001);
	assert_null(weir_base_wheel_advance(&wheel, 4999, &steps));
	assert_int_equal(steps, 0);
	assert_ptr_equal(wheel.moving, &entries[1]);
	weir_base_wheel_remove(&wheel, &entries[1]);
	assert_null(wheel.moving);
	assert_null(pop(4999));
	assert_ptr_equal(pop(6000), &entries[0]);
	is_empty();
}

struct model {
	struct weir_base_wheel_entry entry;
	bool armed;
	uint64_t tick;
};

/* The earliest tick of all; UINT64_MAX: none */
static uint64_t
model_next(const struct model *models, unsigned int nb)
{
	uint64_t next = UINT64_MAX;

	for (unsigned int i = 0; i < nb; i++)
		if (models[i].armed && models[i].tick < next)
			next = models[i].tick;
	return next;
}

static void
model_run(struct model *models, unsigned int nb, unsigned int bits, unsigned int rounds)
{
	uint64_t now = random_distance(40);

	memset(&wheel, 0, sizeof(wheel));
	memset(models, 0, nb * sizeof(*models));
	for (unsigned int round = 0; round < rounds && now < UINT64_C(1) << 62; round++) {
		struct model *model = &models[random64() % nb];
		unsigned int steps = (unsigned int)(random64() % 4 == 0 ? random64() % 20 : ALL);
		struct weir_base_wheel_entry *entry;
		unsigned int armed = 0;

		if (random64() % 3 == 0)
			weir_base_wheel_skip(&wheel, now);
		if (model->armed) {
			weir_base_wheel_remove(&wheel, &model->entry);
			model->armed = false;
		} else {
			model->tick = now + random_distance(bits) - (random64() % 8 == 0);
			model->armed = true;
			add(&model->entry, model->tick);
		}
		if (random64() % 4 != 0)
			continue;
		now += random_distance(bits);
		while ((entry = weir_base_wheel_advance(&wheel, now, &steps)) != NULL) {
			model = (struct model *)(void *)entry;
			assert_true(model->armed);
			assert_true(model->tick <= now);
			model->armed = false;
		}
		/* nothing that is due was left behind, unless it had to stop */
		if (steps > 0)
			assert_true(model_next(models, nb) > now);
		assert_true(weir_base_wheel_next(&wheel) <= model_next(models, nb) ||
			    weir_base_wheel_next(&wheel) <= now);
		for (unsigned int i = 0; i < nb; i++)
			armed += models[i].armed;
		assert_int_equal(wheel.nb, armed);
	}
	for (unsigned int i = 0; i < nb; i++)
		if (models[i].armed)
			weir_base_wheel_remove(&wheel, &models[i].entry);
	is_empty();
}

static void
model_test(void **state)
{
	struct model models[200];

	for (unsigned int bits = 1; bits < 62; bits += 3) {
		model_run(models, 3, bits, 3000);
		model_run(models, 200, bits, 3000);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_test),
		cmocka_unit_test(order_test),
		cmocka_unit_test(late_test),
		cmocka_unit_test(steps_test),
		cmocka_unit_test(moving_test),
		cmocka_unit_test(model_test),
	};

	return cmocka_run_group_tests_name("base-wheel", tests, NULL, NULL);
}
