/* SPDX-License-Identifier: BSD-3-Clause */
/* The code in doc/event-machine.md does what the document says. */
#include "em_test.h"

int hello(const char *backend);
#include "em_document.h"

static void
hello_greets(void **state)
{
	assert_int_equal(hello(NULL), 6);
	assert_int_equal(hello("nothing"), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(hello_greets)};

	return ST_RUN("em-document", tests);
}
