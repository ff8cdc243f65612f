/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What signal handlers write.
 *
 * Lines are made of write(2) and numbers of our own making. Names and backtraces are up to dladdr(),
 * backtrace_symbols_fd() and the unwinder, which POSIX does not call async-signal-safe. They are in practice once
 * they have been called before, which coro_report_ready() does: they allocate nothing then, and the loader's lock that
 * they take is held while libraries are loaded only. What matters is to be written before they are asked.
 */

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include "coro_private.h"
#include "report.h"

#define FRAMES_MAX 64

void
coro_line_text(struct coro_line *line, const char *text)
{
	while (*text != '\0' && line->length < sizeof(line->text))
		line->text[line->length++] = *text++;
}

void
coro_line_number(struct coro_line *line, uint64_t number, unsigned int base)
{
	char digits[24], *at = digits + sizeof(digits);

	*--at = '\0';
	do {
		*--at = "0123456789abcdef"[number % base];
		number /= base;
	} while (number != 0);
	coro_line_text(line, at);
}

void
coro_line_write(struct coro_line *line, int fd)
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

void
coro_line_function(struct coro_line *line, const void *function)
{
	const char *file, *slash;
	Dl_info info;

	if (dladdr(function, &info) == 0 || info.dli_fname == NULL) {
		coro_line_text(line, "0x");
		coro_line_number(line, (uintptr_t)function, 16);
		return;
	}
	slash = strrchr(info.dli_fname, '/');
	file = slash != NULL ? slash + 1 : info.dli_fname;
	coro_line_text(line, info.dli_sname != NULL ? info.dli_sname : file);
	coro_line_text(line, "+0x");
	coro_line_number(line,
		(uintptr_t)function -
			(uintptr_t)(info.dli_sname != NULL ? info.dli_saddr : info.dli_fbase),
		16);
	if (info.dli_sname != NULL) {
		coro_line_text(line, " (");
		coro_line_text(line, file);
		coro_line_text(line, ")");
	}
}

/*
 * Would weir_coro_switch_in() or _out() go on here with some registers of one stack, and others of the other? For
 * two instructions that is so, and whoever takes the stack for that of this function reads beyond its end.
 */
static bool
is_half_switched(const void *instruction)
{
#if defined(__x86_64__)
	const uint8_t *byte = instruction;

	/* mov 8(%rdi), %rbp or mov 24(%rsi), %rbp */
	if (byte[0] == 0x48 && byte[1] == 0x8b && (byte[2] == 0x6f || byte[2] == 0x6e))
		byte += 4;
	/* jmp *16(%rdi), jmp *40(%rdi) */
	return byte[0] == 0xff && byte[1] == 0x67;
#elif defined(__aarch64__)
	const uint32_t *word = instruction, mov_sp_x3 = 0x9100007f, br_x2 = 0xd61f0040;

	/* ldr x2, [x0, 16], ldr x2, [x0, 40] */
	if ((word[0] & 0xffc003ff) == 0xf9400002)
		return word[1] == mov_sp_x3;
	return word[0] == mov_sp_x3 || word[0] == br_x2;
#else
	return false;
#endif
}

struct trace {
	void *frames[FRAMES_MAX];
	int nb;
	bool interrupted; /* the frames of the handler are behind us */
	bool bottom; /* the last one was a coroutine's first: what it says of signals is for debuggers */
#if defined(__aarch64__)
	uintptr_t record, link; /* x29 and x30 where the signal came */
#endif
};

static _Unwind_Reason_Code
add_frame(struct _Unwind_Context *context, void *arg)
{
	struct trace *trace = arg;
	int before = 0;
	void *at = (void *)_Unwind_GetIPInfo(context, &before);

	before = before != 0 && !trace->bottom;
	trace->bottom = _Unwind_GetRegionStart(context) == (uintptr_t)coro_entry;
	/* The function that was interrupted: what was found before is the handler's. */
	if (before && !trace->interrupted) {
		trace->interrupted = true;
		trace->nb = 0;
#if defined(__aarch64__)
		trace->record = _Unwind_GetGR(context, 29);
		trace->link = _Unwind_GetGR(context, 30);
#endif
	}
	if (at == NULL || trace->nb == FRAMES_MAX)
		return _URC_END_OF_STACK;
	trace->frames[trace->nb++] = at;
	return before && is_half_switched(at) ? _URC_END_OF_STACK : _URC_NO_REASON;
}

#if defined(__aarch64__)
/*
 * Linkers write no unwind information for what calls go through into other libraries (.plt), so that the unwinder knows
 * nothing further when a signal comes there. But the return address is still in x30 then, and functions that call others
 * begin with a frame record: the caller's x29 and x30 (AAPCS64, "The Frame Pointer").
 */
static LOOK_ANYWAY void
add_records(struct trace *trace)
{
	const struct weir_coro_block *block = weir_coro_thread_now()->current;
	uintptr_t record = trace->record, link = trace->link, from, to;

	if (block == NULL)
		return;
	from = (uintptr_t)block->stack;
	to = (uintptr_t)block->top - 2 * sizeof(uintptr_t);
	while (trace->nb < FRAMES_MAX) {
		const uintptr_t *at = (const uintptr_t *)record;

		trace->frames[trace->nb++] = (void *)link;
		/* coro_entry() has another kind of frame. */
		if (link - (uintptr_t)coro_entry < 16 || record < from || record > to ||
			record % sizeof(*at) != 0)
			return;
		from = record + 1;
		record = at[0];
		link = at[1];
	}
}
#endif

void
coro_report_backtrace(int fd)
{
	struct trace trace = {0};

	_Unwind_Backtrace(add_frame, &trace);
#if defined(__aarch64__)
	if (trace.interrupted && trace.nb == 1 &&
		_Unwind_FindEnclosingFunction((char *)trace.frames[0] + 1) == NULL)
		add_records(&trace);
#endif
	if (trace.nb > 0)
		backtrace_symbols_fd(trace.frames, trace.nb, fd);
}

static void
make_ready(void)
{
	struct trace trace = {0};
	Dl_info info;

	_Unwind_Backtrace(add_frame, &trace);
	/* It loads the unwinder, and backtrace_symbols_fd() is in the same library. */
	(void)backtrace(trace.frames, 1);
	(void)dladdr((void *)make_ready, &info);
}

void
coro_report_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_ready);
}
