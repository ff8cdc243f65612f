/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_BASE_CTL_UTIL_H
#define WEIR_TESTS_BASE_CTL_UTIL_H

/* A control server with commands to be asked, and raw connections to it. Include after cmocka.h. */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "weir_base.h"
#include "weir_base_ctl.h"

#define PATIENCE_MS                                                                                \
	60000 /* for what comes at once where there is time for it: an end to a test that hangs */

static char name[40];

/* What handlers were seen to do. */
static int nb_inside, nb_overlaps, nb_fills;

static inline void
pause_ms(long ms)
{
	struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&pause, NULL);
}

static inline int
echo(void *arg, const json_t *args, json_t **result)
{
	if (__atomic_add_fetch(&nb_inside, 1, __ATOMIC_SEQ_CST) != 1)
		__atomic_add_fetch(&nb_overlaps, 1, __ATOMIC_SEQ_CST);
	*result = args != NULL ? json_deep_copy(args) : json_string("nothing");
	__atomic_sub_fetch(&nb_inside, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static inline int
refuse(void *arg, const json_t *args, json_t **result)
{
	if (args != NULL)
		*result = json_string("not today");
	return -EBUSY;
}

static inline int
nothing(void *arg, const json_t *args, json_t **result)
{
	return 0;
}

static inline int
dawdle(void *arg, const json_t *args, json_t **result)
{
	__atomic_store_n((int *)arg, 1, __ATOMIC_SEQ_CST);
	pause_ms(300);
	__atomic_store_n((int *)arg, 2, __ATOMIC_SEQ_CST);
	return 0;
}

/* Until it is told to: then its argument is true. */
static inline int
stay(void *arg, const json_t *args, json_t **result)
{
	while (!__atomic_load_n((bool *)arg, __ATOMIC_SEQ_CST))
		pause_ms(1);
	return 0;
}

/* A text of as many bytes as asked for. */
static inline int
fill(void *arg, const json_t *args, json_t **result)
{
	size_t size = (size_t)json_integer_value(json_object_get(args, "size"));
	char *text = malloc(size + 1);

	__atomic_add_fetch(&nb_fills, 1, __ATOMIC_SEQ_CST);
	memset(text, 'x', size);
	text[size] = '\0';
	*result = json_string(text);
	free(text);
	return 0;
}

static inline struct weir_base_ctl *
open_server(void)
{
	struct weir_base_ctl *ctl = weir_base_ctl_open(name);

	assert_non_null(ctl);
	assert_int_equal(weir_base_ctl_register(ctl, "test/echo", "say it again",
				 WEIR_BASE_CTL_READ_ONLY, echo, NULL),
		0);
	assert_int_equal(weir_base_ctl_register(ctl, "test/refuse", "no", 0, refuse, NULL), 0);
	assert_int_equal(weir_base_ctl_register(ctl, "test/nothing", "no", 0, nothing, NULL), 0);
	assert_int_equal(weir_base_ctl_register(ctl, "test/fill", "x", 0, fill, NULL), 0);
	return ctl;
}

static inline int
connect_raw(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(weir_base_ctl_path(name, address.sun_path, sizeof(address.sun_path)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static inline void
send_text(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* One line; an empty text at the end of input. */
static inline void
receive_line(int fd, char *line, size_t size)
{
	size_t used = 0;

	while (used < size - 1) {
		struct pollfd polled = {.fd = fd, .events = POLLIN};

		assert_int_equal(poll(&polled, 1, PATIENCE_MS), 1);
		if (read(fd, line + used, 1) != 1 || line[used] == '\n')
			break;
		used++;
	}
	line[used] = '\0';
}

static inline void
check_answer(int fd, const char *request, const char *expected)
{
	char line[1000];

	send_text(fd, request);
	receive_line(fd, line, sizeof(line));
	assert_string_equal(line, expected);
}

static inline int
set_name(void **state)
{
	snprintf(name, sizeof(name), "test-%d", (int)getpid());
	return 0;
}

#endif
