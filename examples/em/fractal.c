/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fractal: a picture is painted by fork and join.
 *
 *     fractal [FILE]         the picture as a PGM, fractal.pgm
 *
 * One event is the whole picture. Who receives a large piece forks: four events for its quarters, of the same event group, which it
 * increments; small ones are painted. When all have been, however many that were, the group notifies: the picture is saved, once,
 * and painted again until the time is up: it is the same each time, on however many cores.
 *
 * What to learn from it: fork and join without a count that is known beforehand; pieces of a shared result need no lock where
 * they do not overlap; work that differs in length finds idle cores by itself.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir_base.h>
#include <weir_em_event_group.h>
#include <weir_em_pool.h>

#include "example.h"

#define WIDTH  640
#define HEIGHT 480
#define SMALL  32 /* pixels of a side, that are not divided any more */
#define DEPTH  255

/* Numbers have 28 bits behind the point: the same picture on every machine. */
#define ONE (INT64_C(1) << 28)

struct piece {
	unsigned int x, y, width, height;
};

static uint8_t picture[HEIGHT][WIDTH];
static weir_em_queue paint_queue, done_queue;
static weir_em_event_group group;
static weir_em_pool pool;
static const char *file;
static uint64_t nb_pictures, nb_pieces, first_hash, begun_ns, sum_ns;

/* How often z = z*z + c until it is far away: x from -2.2 to 1, y from -1.2 to 1.2. */
static uint8_t
mandelbrot(unsigned int x, unsigned int y)
{
	int64_t cx = (int64_t)x * ONE / 200 - ONE * 22 / 10,
		cy = (int64_t)y * ONE / 200 - ONE * 12 / 10;
	int64_t zx = 0, zy = 0;
	uint8_t n = 0;

	while (n < DEPTH && zx * zx + zy * zy <= 4 * ONE * ONE) {
		int64_t re = (zx * zx - zy * zy) / ONE + cx;

		zy = 2 * zx * zy / ONE + cy;
		zx = re;
		n++;
	}
	return n;
}

static struct rte_event
event_of(struct weir_em_core *core, struct piece piece)
{
	struct rte_mbuf *buffer = weir_em_alloc(core, pool, sizeof(piece));

	example_must(buffer != NULL, "a buffer");
	*rte_pktmbuf_mtod(buffer, struct piece *) = piece;
	return weir_em_event_buffer(buffer);
}

/* Four quarters of it, for whoever has time. */
static void
fork_pieces(struct weir_em_core *core, const struct piece *piece)
{
	unsigned int left = piece->width / 2, top = piece->height / 2;
	struct rte_event events[4];

	for (unsigned int i = 0; i < 4; i++)
		events[i] = event_of(core, (struct piece){
						   .x = piece->x + (i % 2) * left,
						   .y = piece->y + (i / 2) * top,
						   .width = i % 2 == 0 ? left : piece->width - left,
						   .height = i / 2 == 0 ? top : piece->height - top,
					   });
	/* First, or the group might come to 0 before. */
	example_must(weir_em_event_group_increment(core, 4) == 0, "a larger group");
	example_must(weir_em_event_group_send(
			     core, paint_queue, events, 4, weir_em_event_group_current(core)) == 4,
		"quarters");
}

static void
paint(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	const struct piece *piece = rte_pktmbuf_mtod(events[0].mbuf, const struct piece *);

	__atomic_fetch_add(&nb_pieces, 1, __ATOMIC_RELAXED);
	if (piece->width > SMALL || piece->height > SMALL)
		fork_pieces(core, piece);
	else
		for (unsigned int y = piece->y; y < piece->y + piece->height; y++)
			for (unsigned int x = piece->x; x < piece->x + piece->width; x++)
				picture[y][x] = mandelbrot(x, y);
	weir_em_free(weir_em_core_em(core), core, events[0].mbuf);
}

static uint64_t
hash(void)
{
	const uint8_t *pixels = &picture[0][0];
	uint64_t value = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (unsigned int i = 0; i < WIDTH * HEIGHT; i++)
		value = (value ^ pixels[i]) * UINT64_C(0x100000001b3);
	return value;
}

static void
save(void)
{
	FILE *out = fopen(file, "wb");

	example_must(out != NULL, file);
	fprintf(out, "P5\n%d %d\n%d\n", WIDTH, HEIGHT, DEPTH);
	fwrite(picture, 1, sizeof(picture), out);
	example_must(fclose(out) == 0, file);
}

static void
begin(struct weir_em_core *core)
{
	const struct weir_em_notification done = {
		.queue = done_queue, .event = weir_em_event_u64(0)};
	struct rte_event all = event_of(core, (struct piece){.width = WIDTH, .height = HEIGHT});

	begun_ns = weir_base_time_ns();
	example_must(weir_em_event_group_apply(weir_em_core_em(core), group, 1, &done, 1) == 0,
		"a cycle");
	example_must(weir_em_event_group_send(core, paint_queue, &all, 1, group) == 1, "a picture");
}

/* Notified: it is painted. */
static void
join(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	sum_ns += weir_base_time_ns() - begun_ns;
	if (nb_pictures++ == 0) {
		first_hash = hash();
		save();
	}
	example_expect(hash() == first_hash, "another picture");
	if (!example_over())
		begin(core);
}

int
main(int argc, char **argv)
{
	struct weir_em_event_group_stats stats;
	struct example ex = {.about = "a picture is painted by fork and join.",
		.burst = 1, /* what a core has taken, idle ones cannot have */
		.file = "fractal.pgm"};

	example_begin(&ex, argc, argv,
		(struct weir_em_config){.nb_queues = 2, .nb_reserved = 2, .nb_event_groups = 1});
	file = ex.file;
	paint_queue = example_serve(&ex,
		(struct weir_em_queue_config){.name = "paint", .type = WEIR_EM_QUEUE_PARALLEL},
		(struct weir_em_object_config){.receive = paint});
	done_queue = example_serve(&ex,
		(struct weir_em_queue_config){.name = "join", .type = WEIR_EM_QUEUE_ATOMIC},
		(struct weir_em_object_config){.receive = join});
	pool = weir_em_pool_create(
		ex.em, &(struct weir_em_pool_config){
			       .name = "pieces", .nb = 2047, .cache = 32, .socket_id = -1});
	group = weir_em_event_group_create(ex.em);
	example_must(pool != WEIR_EM_NONE && group != WEIR_EM_NONE, "a pool and a group");
	begin(ex.core);
	example_run(&ex);
	weir_em_event_group_stats(ex.em, &stats);
	example_expect(
		nb_pictures > 0 && stats.nb_completed == nb_pictures, "not all are complete");
	example_expect(stats.nb_events == nb_pieces && stats.nb_excess + stats.nb_stale == 0,
		"%" PRIu64 " pieces, of which %" PRIu64 " counted", nb_pieces, stats.nb_events);
	printf("%s: %" PRIu64 " pieces, hash %016" PRIx64 "\n", file, nb_pieces / nb_pictures,
		first_hash);
	printf("painted %" PRIu64 " times, in %.2f ms each\n", nb_pictures,
		(double)sum_ns / 1e6 / (double)nb_pictures);
	return example_end(&ex);
}
