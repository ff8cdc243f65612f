/* SPDX-License-Identifier: BSD-3-Clause */

/* A plug-in for the tests: functions on frames of WIBEth that are good, others that are not. */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir_bridge_process.h"
#include "weir_job.h"

#define TIMESTAMP_AT 8 /* in a frame */
#define FILL_AT      16

/* A link's frames that came: of function "count", which is before the buffer. */
static uint64_t arrived;

static int
count(void *context, const struct weir_readout_item *item)
{
	__atomic_fetch_add(&arrived, 1, __ATOMIC_RELEASE);
	return WEIR_READOUT_PASS;
}

/* ---- one that stalls in the middle of a frame ---- */

struct stall {
	uint64_t until; /* so many have come */
	bool done;      /* it stalls once */
};

static int
stall_init(const struct weir_bridge_process_env *env, void **context)
{
	struct stall *stall = calloc(1, sizeof(*stall));

	if (stall == NULL || env->argument == NULL)
		return -EINVAL;
	stall->until = strtoull(env->argument, NULL, 10);
	*context = stall;
	return 0;
}

/* As the tests make them: behind the fields one byte, again and again. */
static bool
is_whole(const uint8_t *data, const struct weir_readout_frame *frame, size_t from, size_t to)
{
	const uint8_t fill = (uint8_t)(frame->timestamp / 2048);
	uint64_t timestamp;

	memcpy(&timestamp, data + TIMESTAMP_AT, sizeof(timestamp));
	while (from < to && data[from] == fill)
		from++;
	return timestamp == frame->timestamp && from == to;
}

static bool
is_cancelled(void)
{
	if (weir_job_yield() != -EPERM)
		return weir_job_self_cancelled();
	sched_yield(); /* in no job */
	return false;
}

static int
stall(void *context, const struct weir_readout_item *item)
{
	const size_t size = item->frame.size_bytes, middle = size / 2;
	struct stall *stall = context;
	bool whole = is_whole(item->data, &item->frame, FILL_AT, middle);

	while (!stall->done && __atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < stall->until)
		if (is_cancelled())
			break;
	stall->done = true;
	whole = whole && is_whole(item->data, &item->frame, middle, size);
	return whole ? WEIR_READOUT_PASS : 0;
}

/* ---- one that does not heed that it is cancelled ---- */

static int
is_deaf(void *context, const struct weir_readout_item *item)
{
	const volatile uint8_t *own = context, *data = item->data;

	do
		weir_job_yield();
	while (*own + *data < 2 * UINT8_MAX + 1);
	return WEIR_READOUT_PASS;
}

static int
deaf_init(const struct weir_bridge_process_env *env, void **context)
{
	*context = calloc(1, 1);
	return *context != NULL ? 0 : -ENOMEM;
}

static void
deaf_fini(void *context)
{
	fprintf(stderr, "ended\n");
	free(context);
}

/* ---- one that drops some, and sends messages of the others ---- */

struct mark {
	uint64_t timestamp;
	uint32_t stream, number;
};

struct marker {
	struct weir_readout_source *output;
	uint64_t stream;
	uint32_t nb;
};

static int
mark_init(const struct weir_bridge_process_env *env, void **context)
{
	struct marker *marker;

	if (env->argument != NULL && strcmp(env->argument, "refuse") == 0)
		return -EPERM;
	marker = calloc(1, sizeof(*marker));
	if (marker == NULL || env->struct_size < sizeof(*env) ||
		strncmp(env->link, "in-", 3) != 0 || strcmp(env->format->name, "wibeth") != 0)
		return -EINVAL;
	marker->output = env->output;
	marker->stream = env->stream;
	*context = marker;
	return 0;
}

static int
mark(void *context, const struct weir_readout_item *item)
{
	struct marker *marker = context;
	const struct mark message = {.timestamp = item->frame.timestamp,
		.stream = (uint32_t)marker->stream,
		.number = marker->nb++};

	if (message.number % 3 == 2)
		return (int)(message.number % 2);
	if (marker->output != NULL)
		weir_readout_source_send(marker->output, &message, 1);
	return WEIR_READOUT_PASS;
}

static const char *const reasons[] = {"even", "odd"};
static const struct weir_readout_type mark_type = {"test_mark", sizeof(struct mark), 1};

extern const struct weir_bridge_process_type counter, staller, deaf, marker, old_abi, no_run;

const struct weir_bridge_process_type counter = {
	WEIR_BRIDGE_PROCESS_HEADER,
	.run = count,
};

static const char *const torn[] = {"torn"};

const struct weir_bridge_process_type staller = {
	WEIR_BRIDGE_PROCESS_HEADER,
	.init = stall_init,
	.fini = free,
	.run = stall,
	.drops = torn,
	.nb_drops = 1,
};

const struct weir_bridge_process_type deaf = {
	WEIR_BRIDGE_PROCESS_HEADER,
	.init = deaf_init,
	.fini = deaf_fini,
	.run = is_deaf,
};

const struct weir_bridge_process_type marker = {
	WEIR_BRIDGE_PROCESS_HEADER,
	.init = mark_init,
	.fini = free,
	.run = mark,
	.drops = reasons,
	.nb_drops = 2,
	.output = &mark_type,
};

const struct weir_bridge_process_type old_abi = {
	.abi_version = WEIR_BRIDGE_PROCESS_ABI_VERSION + 1,
	.struct_size = sizeof(struct weir_bridge_process_type),
	.run = count,
};

const struct weir_bridge_process_type no_run = {
	WEIR_BRIDGE_PROCESS_HEADER,
};
