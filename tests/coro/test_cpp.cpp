/* SPDX-License-Identifier: BSD-3-Clause */
/* The headers in C++, exceptions within coroutines, and those that nobody catches there. */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* What nobody catches in a coroutine. */

[[noreturn]] void
throws()
{
	throw std::runtime_error("to nobody");
}

void
throws_late()
{
	Counted counted;

	weir_coro_yield();
	throws();
}

/* Whoever catches on the way is not asked: the coroutine's own stack is where it ends. */
void
resumes_one_that_throws()
{
	try {
		weir_coro_resume(weir_coro_create(throws));
	} catch (...) {
		_exit(1);
	}
	_exit(2);
}

void
throws_in_a_cleanup()
{
	weir_coro_cleanup_entry entry = {[](void *) { throws(); }, nullptr, nullptr};

	weir_coro_cleanup_push(&entry);
	weir_coro_exit();
}

void
throws_through_noexcept()
{
	[]() noexcept { throws(); }();
}

void
ends_its_thread()
{
	Counted counted;

	pthread_exit(nullptr);
}

void
cancels_its_thread()
{
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

/* Is this the stack of a coroutine still, and the exception there to be looked at? */
[[noreturn]] void
ends_here()
{
	const weir_coro_block *block = weir_coro_block_of(weir_coro_self());
	const char *here = static_cast<const char *>(__builtin_frame_address(0));

	if (block == nullptr || here < block->stack || here >= block->top)
		_exit(3);
	try {
		std::rethrow_exception(std::current_exception());
	} catch (const std::runtime_error &error) {
		_exit(error.what() == std::string("to nobody") ? 42 : 4);
	} catch (...) {
		_exit(5);
	}
}

/* How a process ends that does this. */
int
status_of(weir_coro_run_t run, bool with_handler)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		alarm(30);
		signal(SIGABRT, SIG_DFL);
		if (with_handler)
			std::set_terminate(ends_here);
		try {
			weir_coro *coro = weir_coro_create(run);

			for (int i = 0; i < 3; i++)
				weir_coro_resume(coro);
		} catch (...) {
			_exit(6);
		}
		_exit(7);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

void
escaping_ends_the_process()
{
	const weir_coro_run_t runs[] = {throws, throws_late, resumes_one_that_throws,
		throws_in_a_cleanup, throws_through_noexcept};

	for (weir_coro_run_t run : runs) {
		int status = status_of(run, true);

		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
		status = status_of(run, false);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

void
threads_do_not_end_in_one()
{
	for (weir_coro_run_t run : {ends_its_thread, cancels_its_thread}) {
		int status = status_of(run, false);

#ifdef WEIR_BASE_TSAN
		/* It ends such a process before it comes to us. */
		CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) > 7);
#else
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
	}
}

} // namespace

int
main()
{
	CHECK(weir_coro_init(65536, 0, 0, 16, 0, 4, -1) == 0);
	exceptions_stay_apart();
	cancel_unwinds();
	escaping_ends_the_process();
	threads_do_not_end_in_one();
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
