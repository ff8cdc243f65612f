/* SPDX-License-Identifier: BSD-3-Clause */
/* The headers in C++, and exceptions within coroutines. */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "weir_coro.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			std::fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);       \
			std::abort();                                                              \
		}                                                                                  \
	} while (0)

namespace
{

int objects, caught;

struct Counted {
	Counted()
	{
		objects++;
	}
	Counted(const Counted &) = delete;
	Counted &operator=(const Counted &) = delete;
	~Counted()
	{
		objects--;
	}
};

struct Cancelled {
};

void
yield_point()
{
	if (weir_coro_yield())
		throw Cancelled();
}

__attribute__((noinline)) void
throws_after_yields(int depth)
{
	Counted counted;

	yield_point();
	if (depth == 0)
		throw std::runtime_error(std::to_string(weir_coro_self_id()));
	throws_after_yields(depth - 1);
}

/* Yields before the throw, while objects wait for their destructors, and after the exception was dealt with. */
void
throws_and_catches()
{
	for (int round = 0; round < 3; round++) {
		try {
			throws_after_yields(5);
			CHECK(false);
		} catch (const std::runtime_error &error) {
			CHECK(error.what() == std::to_string(weir_coro_self_id()));
			caught++;
		}
		weir_coro_yield();
	}
}

/* A cancelled one that unwinds its stack by an exception. */
void
unwinds_when_cancelled()
{
	Counted counted;

	try {
		for (;;) {
			auto more = std::make_unique<Counted>();

			yield_point();
		}
	} catch (const Cancelled &) {
		caught++;
	}
}

void
exceptions_stay_apart()
{
	std::vector<weir_coro *> coros;

	for (int i = 0; i < 10; i++)
		coros.push_back(weir_coro_create(throws_and_catches));
	for (bool busy = true; busy;) {
		busy = false;
		for (weir_coro *coro : coros) {
			if (weir_coro_has_exited(coro))
				continue;
			weir_coro_resume(coro);
			busy = true;
		}
	}
	CHECK(caught == 30 && objects == 0);
	for (weir_coro *coro : coros)
		CHECK(weir_coro_destroy(coro) == 0);
}

void
cancel_unwinds()
{
	weir_coro *coro = weir_coro_create(unwinds_when_cancelled);

	caught = 0;
	for (int i = 0; i < 5; i++)
		weir_coro_resume(coro);
	CHECK(objects == 2);
	CHECK(weir_coro_cancel(coro) == 0);
	weir_coro_resume(coro);
	CHECK(weir_coro_has_exited(coro) && caught == 1 && objects == 0);
	CHECK(weir_coro_destroy(coro) == 0);
}

} // namespace

int
main()
{
	CHECK(weir_coro_init(65536, 0, 0, 16, 0, 4, -1) == 0);
	exceptions_stay_apart();
	cancel_unwinds();
	/* And on the program's own stack, after all that. */
	try {
		throw std::runtime_error("outside");
	} catch (const std::exception &) {
		caught++;
	}
	CHECK(caught == 2);
	weir_coro_cleanup();
	return 0;
}
