/* SPDX-License-Identifier: BSD-3-Clause */
/* Which frames of an emulated stream something is done to. */
#include <errno.h>
#include <inttypes.h>

#include "emulator_private.h"
#include "registry_private.h"

#define MILLION        1000000u
#define SEED_OF_STREAM UINT64_C(0x9e3779b97f4a7c15)
#define SEED_OF_FAULT  UINT64_C(0xd1b54a32d192ed03)

const char *
weir_readout_emulator_fault_name(enum weir_readout_emulator_fault fault)
{
	return (unsigned int)fault < WEIR_READOUT_NB_EMULATED ? weir_base_fault_names[fault] : NULL;
}

/* The finalizer of SplitMix64: each bit of the result depends on each bit of the seed. */
static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

bool
fault_is_due(uint64_t seed, const struct stream *stream, uint32_t fault, uint64_t number)
{
	const struct weir_readout_emulator_fault_config *config = &stream->config.faults[fault];
	uint64_t after = number - config->first;

	if (number < config->first)
		return false;
	if (config->random_ppm > 0)
		return mix(mix(seed + SEED_OF_STREAM * stream->number + SEED_OF_FAULT * fault) +
			       number) %
			       MILLION <
		       config->random_ppm;
	if (config->period > 0)
		after %= config->period;
	return after < (config->length == 0 ? 1 : config->length);
}

static bool
amount_allowed(const struct stream *stream, const struct weir_readout_emulator_fault_config *fault)
{
	switch (fault->fault) {
	case WEIR_READOUT_EMULATE_REORDER:
		return fault->amount >= 1 && fault->amount <= WEIR_BASE_FAULT_REORDER_MAX;
	case WEIR_READOUT_EMULATE_TRUNCATE:
		return fault->amount >= 0 && fault->amount <= stream->packet.frame_bytes;
	case WEIR_READOUT_EMULATE_STALL:
		return fault->amount >= 1 && fault->amount <= WEIR_BASE_FAULT_STALL_MAX;
	default:
		return true;
	}
}

int
fault_check(const struct stream *stream, const struct weir_readout_emulator_fault_config *fault)
{
	const char *name = weir_readout_emulator_fault_name(fault->fault);

	if (name == NULL) {
		READOUT_LOG(ERROR, "emulated stream %" PRIu32 ": fault %u is not known",
			stream->number, (unsigned int)fault->fault);
		return -EINVAL;
	}
	if (!amount_allowed(stream, fault)) {
		READOUT_LOG(ERROR, "emulated stream %" PRIu32 ": %s by %" PRId64 " is out of range",
			stream->number, name, fault->amount);
		return -EINVAL;
	}
	if (fault->random_ppm > MILLION) {
		READOUT_LOG(ERROR,
			"emulated stream %" PRIu32 ": %s with %" PRIu32
			" chances in a million, expected up to a million",
			stream->number, name, fault->random_ppm);
		return -EINVAL;
	}
	return 0;
}
