/* SPDX-License-Identifier: BSD-3-Clause */

/* libFuzzer target: see forward.h. */

#include "forward.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	forward_init("fuzz_forward");
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	forward_input(bytes, size);
	return 0;
}
