/* SPDX-License-Identifier: BSD-3-Clause */
/* What time it is, by the frames of several links. */
#include <errno.h>
#include <stdlib.h>

#include <weir_readout_handler.h>

#include "links_clock.h"

int
links_clock_open(struct links_clock *clock, struct weir_readout_handler *const *handlers,
	const uint32_t *numbers, unsigned int nb)
{
	const struct weir_readout_link *first = weir_readout_handler_link(handlers[numbers[0]]);
	unsigned int i;

	*clock = (struct links_clock){
		.links = calloc(nb, sizeof(*clock->links)),
		.nb = nb,
		.unused_bits = 64 - weir_readout_link_format(first)->timestamp_bits,
	};
	if (clock->links == NULL)
		return -ENOMEM;
	for (i = 0; i < nb; i++) {
		struct weir_readout_buffer_info info;

		clock->links[i].name =
			weir_readout_link_name(weir_readout_handler_link(handlers[numbers[i]]));
		clock->links[i].buffer = weir_readout_handler_buffer(handlers[numbers[i]]);
		weir_readout_buffer_info(clock->links[i].buffer, &info);
		clock->links[i].history_ticks = info.history_ticks;
	}
	return 0;
}

static void
mark(struct links_clock_link *link, uint64_t at, uint64_t lead_at)
{
	link->marked = true;
	link->at = at;
	link->lead_at = lead_at;
}

/* A link that has gone on for long, by what is in its buffer: the first one. */
static bool
find_lead(struct links_clock *clock, uint64_t *begin, uint64_t *now)
{
	unsigned int i;

	for (i = 0; i < clock->nb; i++) {
		const struct links_clock_link *link = &clock->links[i];

		if (!weir_readout_buffer_range(link->buffer, begin, now) ||
			links_clock_after(clock, *now, *begin) <=
				(int64_t)(link->history_ticks / 2))
			continue;
		clock->lead = i;
		return true;
	}
	return false;
}

/*
 * Has this link gone on for long, since it was marked, while the newest frame of the one in the lead was at @p lead_at? More than the history is a
 * jump of its clock: that proves nothing.
 */
static bool
has_gone_on(const struct links_clock *clock, struct links_clock_link *link, uint64_t lead_at)
{
	uint64_t begin, now;
	int64_t moved;

	if (!weir_readout_buffer_range(link->buffer, &begin, &now))
		return false;
	moved = links_clock_after(clock, now, link->at);
	if (!link->marked || link->lead_at != lead_at || moved < 0 ||
		moved > (int64_t)link->history_ticks) {
		mark(link, now, lead_at);
		return false;
	}
	return moved > (int64_t)(link->history_ticks / 2);
}

bool
links_clock_read(struct links_clock *clock, uint64_t *begin, uint64_t *now)
{
	const struct weir_readout_buffer *lead = clock->links[clock->lead].buffer;
	const unsigned int other = clock->next;
	uint64_t lead_at;

	if (!weir_readout_buffer_range(lead, begin, now))
		return find_lead(clock, begin, now);
	clock->next = (other + 1) % clock->nb;
	lead_at = *now;
	if (other == clock->lead || !has_gone_on(clock, &clock->links[other], lead_at))
		return true;
	/* It may have gone on between the two looks. */
	weir_readout_buffer_range(lead, begin, now);
	if (*now != lead_at)
		return true;
	clock->lead = other;
	return weir_readout_buffer_range(clock->links[other].buffer, begin, now);
}

void
links_clock_close(struct links_clock *clock)
{
	free(clock->links);
}
