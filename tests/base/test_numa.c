/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that are there, and that are not. */
#include <errno.h>
#include <sys/mman.h>

#include "cmocka_all.h"
#include "weir_base.h"

#define BYTES 65536

static void
nodes(void **state)
{
	void *start = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rc;

	assert_ptr_not_equal(start, MAP_FAILED);
	assert_int_equal(weir_base_prefer_node(start, BYTES, -1), 0);
	assert_int_equal(weir_base_prefer_node(start, BYTES, 1024), -EINVAL);
	rc = weir_base_prefer_node(start, BYTES, 0);
	assert_true(rc == 0 || rc == -ENOSYS || rc == -EPERM);
	/* the kernel looks at the address where it can be asked at all */
	if (rc == 0)
		assert_int_equal(weir_base_prefer_node((char *)start + 1, BYTES, 0), -EINVAL);
	munmap(start, BYTES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nodes)};

	return cmocka_run_group_tests_name("numa", tests, NULL, NULL);
}
