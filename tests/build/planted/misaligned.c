/* SPDX-License-Identifier: BSD-3-Clause */
/* A planted bug: a 32-bit field of a packet read where it is not aligned. */
#include <stdint.h>

static uint8_t packet[16] __attribute__((aligned(16)));
static uint32_t *volatile field;

int
main(int argc, char **argv)
{
	field = (void *)&packet[argc];
	return (int)*field;
}
