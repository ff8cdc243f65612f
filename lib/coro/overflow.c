/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Stack overflow: what the program's handler of SIGSEGV asks, and the stack that it runs on.
 *
 * The report uses write(2) and numbers of its own making. Names and the backtrace are up to dladdr(), backtrace() and
 * backtrace_symbols_fd(), which POSIX does not call async-signal-safe. They are in practice once
 * they have been called before, which weir_coro_signal_stack() does: they allocate nothing then, and the loader's lock that they take
 * is held while libraries are loaded only. What matters is written before they are asked.
 */

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coro_private.h"

#define ALTERNATE_STACK_MIN 65536
#define FRAMES_MAX          64

struct line {
	size_t length;
	char text[512];
};

static void
line_text(struct line *line, const char *text)
{
	while (*text != '\0' && line->length < sizeof(line->text))
		line->text[line->length++] = *text++;
}

static void
line_number(struct line *line, uint64_t number, unsigned int base)
{
	char digits[24], *at = digits + sizeof(digits);

	*--at = '\0';
	do {
		*--at = "0123456789abcdef"[number % base];
		number /= base;
	} while (number != 0);
	line_text(line, at);
}

static void
line_write(struct line *line, int fd)
{
	size_t done = 0;

	while (done < line->length) {
		ssize_t written = write(fd, line->text + done, line->length - done);

		if (written < 0 && errno != EINTR)
			break;
		done += written > 0 ? (size_t)written : 0;
	}
	line->length = 0;
}

/* name+0x0 (file), or file+0x1234 where there is no name, which addr2line understands. */
static void
line_function(struct line *line, void *function)
{
	const char *file, *slash;
	Dl_info info;

	if (dladdr(function, &info) == 0 || info.dli_fname == NULL) {
		line_text(line, "0x");
		line_number(line, (uintptr_t)function, 16);
		return;
	}
	slash = strrchr(info.dli_fname, '/');
	file = slash != NULL ? slash + 1 : info.dli_fname;
	line_text(line, info.dli_sname != NULL ? info.dli_sname : file);
	line_text(line, "+0x");
	line_number(line,
		(uintptr_t)function -
			(uintptr_t)(info.dli_sname != NULL ? info.dli_saddr : info.dli_fbase),
		16);
	if (info.dli_sname != NULL) {
		line_text(line, " (");
		line_text(line, file);
		line_text(line, ")");
	}
}

static void
report(const struct coro_class *class, size_t slot, int fd)
{
	const struct weir_coro_block *block = &class->blocks[slot];
	const struct weir_coro_block *current = weir_coro_thread_now()->current;
	struct line line = {0};
	void *frames[FRAMES_MAX];
	int nb;

	line_text(&line, "weir: coro: stack overflow of coroutine ");
	line_number(&line, block->id, 10);
	line_text(&line, " (class ");
	line_number(&line, class->id, 10);
	line_text(&line, ", ");
	line_number(&line, class->memory.stack_bytes, 10);
	line_text(&line, " bytes)");
	if (current != block) {
		line_text(&line, ", or a stray pointer, for here runs ");
		line_text(&line, current != NULL ? "coroutine " : "none");
		if (current != NULL)
			line_number(&line, current->id, 10);
	}
	line_text(&line, ": entry ");
	line_write(&line, fd);
	line_function(&line, (void *)block->run);
	line_text(&line, ", at:\n");
	line_write(&line, fd);
	nb = backtrace(frames, FRAMES_MAX);
	/* Without this function. */
	if (nb > 1)
		backtrace_symbols_fd(frames + 1, nb - 1, fd);
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
			class->memory.guard == WEIR_CORO_GUARD_CANARY)
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

/* And what the report uses is called once: so that it is loaded and bound before it matters. */
static void
make_ready(void)
{
	void *frame;
	Dl_info info;

	stack_key_rc = pthread_key_create(&stack_key, alternate_free);
	(void)backtrace(&frame, 1);
	(void)dladdr((void *)make_ready, &info);
}

int
weir_coro_signal_stack(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = alternate_bytes();
	stack_t stack;
	char *mapping;
	int rc;

	pthread_once(&once, make_ready);
	if (stack_key_rc != 0)
		return -stack_key_rc;
	if (sigaltstack(NULL, &stack) < 0)
		return -errno;
	if ((stack.ss_flags & SS_DISABLE) == 0)
		return 0;
	mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping == MAP_FAILED)
		return -errno;
	stack = (stack_t){.ss_sp = mapping + page, .ss_size = bytes - page};
	rc = mprotect(mapping, page, PROT_NONE) < 0 ? -errno : 0;
	if (rc == 0)
		rc = -pthread_setspecific(stack_key, mapping);
	if (rc == 0 && sigaltstack(&stack, NULL) < 0) {
		rc = -errno;
		pthread_setspecific(stack_key, NULL);
	}
	if (rc < 0)
		munmap(mapping, bytes);
	return rc;
}
