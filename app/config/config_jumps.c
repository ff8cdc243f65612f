/* SPDX-License-Identifier: BSD-3-Clause */
/* From when on timestamps of links are taken for jumps: further off than those of frames that follow each other. */
#include <inttypes.h>

#include "config.h"

/* @param shortest  seconds, that @p what is */
static void
check_jump(struct config *config, const struct config_link *link,
	const struct weir_base_doc_value *map, double shortest, const char *what)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(map, "jump");
	const double jump_s = weir_base_doc_f64(value);

	if (weir_base_doc_given(map, "jump") && jump_s < shortest)
		weir_base_doc_error_add(config->doc, value,
			"a jump of %g s is less than %s of links '%s', %g s; expected as much or "
			"more",
			jump_s, what, link->name, shortest);
}

void
config_check_jumps(struct config *config, const struct config_link *link)
{
	static const char frames[] = "from one frame to the next";
	const struct weir_base_doc_value *buffer = weir_base_doc_get(link->value, "buffer");
	const double tick = 1 / (double)link->format.clock_hz;
	const double step = (double)link->format.step_ticks * tick;

	if (link->format.clock_hz == 0)
		return; /* no buffer can be made for such ones, which is said elsewhere */
	if (step > 0) {
		check_jump(config, link, link->value, step, frames);
		check_jump(config, link, buffer, step, frames);
		return;
	}
	/* Frames without a step may come several at a time, so that only their mean is known. */
	check_jump(config, link, link->value, tick, "a tick");
	check_jump(config, link, buffer, link->buffer.rate_hz > 0 ? 1 / link->buffer.rate_hz : tick,
		frames);
}
