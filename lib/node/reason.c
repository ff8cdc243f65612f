/* SPDX-License-Identifier: BSD-3-Clause */

/* Reasons not to send a packet: their names and kinds. */

#include <stddef.h>

#include <rte_common.h>

#include "node_private.h"

static const struct {
	const char *name;
	const char *help;
	char kind;
} reasons[WEIR_NODE_REASON_COUNT] = {
#define REASON_ROW(constant, text, letter, sentence)                                               \
	[WEIR_NODE_REASON_##constant] = {.name = text, .help = sentence, .kind = letter},
	WEIR_NODE_REASONS(REASON_ROW)
#undef REASON_ROW
};

const char *const weir_node_reason_xstats[WEIR_NODE_REASON_COUNT] = {
#define REASON_NAME(constant, text, letter, sentence) [WEIR_NODE_REASON_##constant] = text,
	WEIR_NODE_REASONS(REASON_NAME)
#undef REASON_NAME
};

const char *
weir_node_reason_name(enum weir_node_reason reason)
{
	return (unsigned int)reason < RTE_DIM(reasons) ? reasons[reason].name : NULL;
}

const char *
weir_node_reason_help(enum weir_node_reason reason)
{
	return (unsigned int)reason < RTE_DIM(reasons) ? reasons[reason].help : NULL;
}

int
weir_node_reason_is_punt(enum weir_node_reason reason)
{
	return (unsigned int)reason < RTE_DIM(reasons) && reasons[reason].kind == 'p';
}
