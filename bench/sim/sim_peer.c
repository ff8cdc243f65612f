/* SPDX-License-Identifier: BSD-3-Clause */

/* A Python in a process of its own: a line to it, a line from it. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_bench.h"
#include "sim_peers.h"

extern char **environ;

/* Where scripts/bench-peers has put one, seen from the program's folder. */
static const char *const beside[] = {"bench-peers/bin/python3", "../bench-peers/bin/python3"};

/* The Python that is asked for, or that of scripts/bench-peers, or just the one in PATH. */
static void
find_python(char *path, size_t size)
{
	const char *asked = getenv("WEIR_BENCH_PYTHON");
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	program[length > 0 ? length : 0] = '\0';
	slash = strrchr(program, '/');
	if (slash != NULL)
		*slash = '\0';
	for (size_t i = 0; asked == NULL && i < sizeof(beside) / sizeof(beside[0]); i++) {
		if (snprintf(path, size, "%s/%s", program, beside[i]) < (int)size &&
			access(path, X_OK) == 0)
			return;
	}
	snprintf(path, size, "%s", asked != NULL ? asked : "python3");
}

/* Its standard input and output are pipes' ends, which close in all others that are started. @return 0 or an errno */
static int
spawn(struct sim_peer *peer, char *python, int to[2], int from[2])
{
	char *argv[] = {python, (char *)(uintptr_t) "-c", (char *)(uintptr_t)sim_peers, NULL};
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error != 0)
		return error;
	if (posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO) != 0 ||
		posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO) != 0)
		error = ENOMEM;
	else
		error = posix_spawnp(&peer->pid, python, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error != 0)
		peer->pid = 0;
	return error;
}

static json_t *
read_answer(struct sim_peer *peer)
{
	char *line = NULL;
	size_t room = 0;
	json_t *answer = NULL;

	if (getline(&line, &room, peer->from) > 0)
		answer = json_loads(line, 0, NULL);
	free(line);
	return answer;
}

bool
sim_peer_open(struct sim_peer *peer)
{
	int to[2] = {-1, -1}, from[2] = {-1, -1}, error;
	char python[PATH_MAX];

	*peer = (struct sim_peer){.pid = 0};
	find_python(python, sizeof(python));
	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		error = errno;
	else
		error = spawn(peer, python, to, from);
	if (to[0] >= 0)
		close(to[0]);
	if (from[1] >= 0)
		close(from[1]);
	peer->to = to[1] >= 0 ? fdopen(to[1], "w") : NULL;
	peer->from = from[0] >= 0 ? fdopen(from[0], "r") : NULL;
	if (error == 0 && peer->to != NULL && peer->from != NULL)
		peer->versions = read_answer(peer);
	if (peer->versions != NULL)
		return true;
	fprintf(stderr, "weir bench sim: cannot run %s: %s\n", python,
		error != 0 ? strerror(error) : "it does not answer");
	sim_peer_close(peer);
	return false;
}

void
sim_peer_close(struct sim_peer *peer)
{
	json_decref(peer->versions);
	if (peer->to != NULL)
		fclose(peer->to); /* the end of its input is the end of it */
	if (peer->from != NULL)
		fclose(peer->from);
	while (peer->pid > 0 && waitpid(peer->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*peer = (struct sim_peer){.pid = 0};
}

const char *
sim_peer_version(const struct sim_peer *peer, const char *library)
{
	return json_string_value(json_object_get(peer->versions, library));
}

uint64_t
sim_peer_run(struct sim_peer *peer, const char *library, const char *model, uint64_t customers,
	uint64_t seed, struct sim_class *classes)
{
	json_t *answer, *class;
	uint64_t ns;
	size_t i;

	fprintf(peer->to, "%s %s %" PRIu64 " %" PRIu64 "\n", library, model, customers, seed);
	if (fflush(peer->to) != 0)
		return 0;
	answer = read_answer(peer);
	ns = (uint64_t)json_integer_value(json_object_get(answer, "ns"));
	json_array_foreach (json_object_get(answer, "classes"), i, class) {
		double nb = json_number_value(json_object_get(class, "customers"));

		if (i >= SIM_CLASSES_MAX)
			break;
		classes[i].customers += nb;
		classes[i].latency += nb * json_number_value(json_object_get(class, "latency"));
	}
	json_decref(answer);
	return ns;
}
