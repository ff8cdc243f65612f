/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK says a lot while it starts, nearly all of it only of use when the start
 * fails. So its log ends here: errors are shown, and after a failure whatever led to it.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <rte_log.h>

#include "eal_log.h"

#define KEPT_LINES 32
#define LINE_SIZE  256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char kept[KEPT_LINES][LINE_SIZE];
static unsigned int nb_kept;
static bool show_all, show_errors;

static void
keep(const char *text, size_t size)
{
	char *line = kept[nb_kept++ % KEPT_LINES];

	if (size >= LINE_SIZE)
		size = LINE_SIZE - 1;
	memcpy(line, text, size);
	line[size] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

static ssize_t
log_write(void *cookie, const char *text, size_t size)
{
	int level = rte_log_cur_msg_loglevel();

	(void)cookie;
	pthread_mutex_lock(&lock);
	if (show_all || (show_errors && level >= 0 && level <= (int)RTE_LOG_ERR))
		fwrite(text, 1, size, stderr);
	else if (level < 0 || level <= (int)RTE_LOG_WARNING)
		keep(text, size);
	pthread_mutex_unlock(&lock);
	return (ssize_t)size;
}

int
eal_log_open(bool verbose)
{
	static const cookie_io_functions_t functions = {.write = log_write};
	FILE *stream = fopencookie(NULL, "w", functions);

	if (stream == NULL)
		return -ENOMEM;
	show_all = verbose;
	if (rte_openlog_stream(stream) != 0) {
		fclose(stream);
		return -EIO;
	}
	return 0;
}

void
eal_log_show_errors(bool show)
{
	pthread_mutex_lock(&lock);
	show_errors = show;
	pthread_mutex_unlock(&lock);
}

void
eal_log_print(FILE *out)
{
	unsigned int i = nb_kept > KEPT_LINES ? nb_kept - KEPT_LINES : 0;

	pthread_mutex_lock(&lock);
	for (; i < nb_kept; i++)
		fprintf(out, "  dpdk: %s\n", kept[i % KEPT_LINES]);
	nb_kept = 0;
	pthread_mutex_unlock(&lock);
}

/* Said with every device of some drivers, as there is no other process that they could talk to. */
static bool
is_harmless(const char *line)
{
	return strstr(line, "mp action callback") != NULL;
}

const char *
eal_log_first_error(void)
{
	const char *line, *colon;
	unsigned int i;

	for (i = 0; i < nb_kept && i < KEPT_LINES; i++) {
		line = kept[i];
		if (is_harmless(line))
			continue;
		colon = strstr(line, ": ");
		return colon != NULL ? colon + 2 : line;
	}
	return NULL;
}

void
eal_log_forget(void)
{
	pthread_mutex_lock(&lock);
	nb_kept = 0;
	pthread_mutex_unlock(&lock);
}
