/* SPDX-License-Identifier: BSD-3-Clause */

/* Stack overflow: what the program's handler of SIGSEGV asks, and the stack that it runs on. */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coro_private.h"
#include "report.h"

#define ALTERNATE_STACK_MIN 65536

static void
report(const struct coro_class *class, size_t slot, int fd)
{
	const struct weir_coro_block *block = &class->blocks[slot];
	const struct weir_coro_block *current = weir_coro_thread_now()->current;
	struct coro_line line = {0};

	coro_line_text(&line, "weir: coro: stack overflow of coroutine ");
	coro_line_number(&line, block->id, 10);
	coro_line_text(&line, " (class ");
	coro_line_number(&line, class->id, 10);
	coro_line_text(&line, ", ");
	coro_line_number(&line, class->memory.stack_bytes, 10);
	coro_line_text(&line, " bytes)");
	if (current != block) {
		coro_line_text(&line, ", or a stray pointer, for here runs ");
		coro_line_text(&line, current != NULL ? "coroutine " : "none");
		if (current != NULL)
			coro_line_number(&line, current->id, 10);
	}
	coro_line_text(&line, ": entry ");
	coro_line_write(&line, fd);
	coro_line_function(&line, (void *)block->run);
	coro_line_text(&line, ", at:\n");
	coro_line_write(&line, fd);
	coro_report_backtrace(fd);
}

bool
weir_coro_overflow_report(const void *address, int fd)
{
	int saved_errno = errno;

	for (unsigned int c = 0; c < coro_nb_classes; c++) {
		const struct coro_class *class = &coro_classes[c];
		size_t slot = coro_memory_guard_of(&class->memory, address);

		/* Canaries do not fault: if the page does, it is for something else. */
		if (slot == SIZE_MAX || class->blocks == NULL ||
			coro_memory_has_canary(&class->memory, slot))
			continue;
		report(class, slot, fd);
		errno = saved_errno;
		return true;
	}
	errno = saved_errno;
	return false;
}

static pthread_key_t stack_key;
static int stack_key_rc;

/* One page more, which nothing may touch: the handler may overflow as well. */
static size_t
alternate_bytes(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)SIGSTKSZ;

	bytes = bytes < ALTERNATE_STACK_MIN ? ALTERNATE_STACK_MIN : bytes;
	return (bytes + page - 1) / page * page + page;
}

/* The thread ends. Somebody may have given it another stack meanwhile. */
static void
alternate_free(void *mapping)
{
	stack_t now, none = {.ss_flags = SS_DISABLE};

	if (sigaltstack(NULL, &now) == 0 &&
		(size_t)((char *)now.ss_sp - (char *)mapping) < alternate_bytes())
		sigaltstack(&none, NULL);
	munmap(mapping, alternate_bytes());
}

static void
make_key(void)
{
	stack_key_rc = pthread_key_create(&stack_key, alternate_free);
}

/* The one that the thread was given before, if the program has disabled it since, or else a new one. NULL with errno */
static char *
alternate_map(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = alternate_bytes();
	char *mapping = pthread_getspecific(stack_key);
	int rc;

	if (mapping != NULL)
		return mapping;
	mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping == MAP_FAILED)
		return NULL;
	rc = mprotect(mapping, page, PROT_NONE) < 0 ? errno
						    : pthread_setspecific(stack_key, mapping);
	if (rc == 0)
		return mapping;
	munmap(mapping, bytes);
	errno = rc;
	return NULL;
}

int
weir_coro_signal_stack(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	stack_t stack;
	char *mapping;

	coro_report_ready();
	(void)weir_coro_attach();
	pthread_once(&once, make_key);
	if (stack_key_rc != 0)
		return -stack_key_rc;
	if (sigaltstack(NULL, &stack) < 0)
		return -errno;
	if ((stack.ss_flags & SS_DISABLE) == 0)
		return 0;
	mapping = alternate_map();
	if (mapping == NULL)
		return -errno;
	stack = (stack_t){.ss_sp = mapping + page, .ss_size = alternate_bytes() - page};
	/* What is mapped stays for the next time, or until the thread ends. */
	return sigaltstack(&stack, NULL) < 0 ? -errno : 0;
}
