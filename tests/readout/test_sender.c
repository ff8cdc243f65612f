/* SPDX-License-Identifier: BSD-3-Clause */

/* Fragments as bytes, to files and sockets that take all, little, or nothing; each is accounted for, and none stays pinned. */

#include "request_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "weir_readout_fragment.h"
#include "weir_readout_sender.h"

#define FOLDER_BYTES 32
#define SECOND       UINT64_C(1000000000)
/* A header, two intervals, 17 frames' entries, a name of 5 bytes, 17 frames. */
#define FRAGMENT_BYTES (88u + 2 * 16 + 17 * 16 + 8 + 17 * RQ_BYTES)

/* Of 100 frames, without intervals. */
#define LARGE_BYTES (88u + 100 * 16 + 8 + 100 * RQ_BYTES)

static struct weir_readout_sender *sender;
static char folder[FOLDER_BYTES], path[FOLDER_BYTES + 8];

static void
make(void)
{
	rq_make(RQ_STEP, 64, (struct weir_readout_service_config){.nb_fragments = 64});
	rq_give_all(0, 5000, 5100);
	rq_give_all(0, 5110, 5150);
	rq_give_all(0, 5170, 5500);
	snprintf(folder, sizeof(folder), "/tmp/weir-sender-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/out", folder);
}

static struct weir_readout_sender_stats
sums(void)
{
	struct weir_readout_sender_stats stats;
	uint64_t sum;

	weir_readout_sender_stats(sender, &stats);
	sum = stats.sent + stats.queued;
	for (unsigned int i = 0; i < WEIR_READOUT_NB_SEND_FAILURES; i++)
		sum += stats.failed[i];
	assert_int_equal(stats.taken, sum);
	return stats;
}

/* Nothing is held but what is queued, then nothing at all. */
static void
finish(void)
{
	assert_int_equal(rq_stats().held, sums().queued);
	weir_readout_sender_stop(sender);
	assert_int_equal(sums().queued, 0);
	assert_int_equal(rq_stats().held, 0);
	weir_readout_sender_free(sender);
	unlink(path);
	assert_int_equal(rmdir(folder), 0);
	rq_free();
}

/* Fragments, as the sender gets them; the first one has trigger 0. */
static void
deliver_of(uint32_t link, uint64_t end, uint64_t nb)
{
	for (uint64_t i = 0; i < nb; i++) {
		struct weir_readout_request request = rq_request(5000, end, 0);

		request.trigger = rq_stats().asked;
		request.links = &link;
		request.nb_links = 1;
		request.deliver = weir_readout_sender_deliver;
		request.arg = sender;
		assert_int_equal(weir_readout_service_ask(rq.service, &request, 0), 0);
		assert_int_equal(weir_readout_service_poll(rq.service, 0), 1);
	}
}

/* Of two gaps and 17 frames. */
static void
deliver(uint64_t nb)
{
	deliver_of(0, 5200, nb);
}

static void
expect_frames(const struct weir_readout_fragment_view *view)
{
	const uint8_t *at = view->frames;

	for (uint32_t i = 0; i < view->nb_frames; i++) {
		struct weir_readout_fragment_frame frame =
			weir_readout_fragment_view_frame(view, i);
		uint64_t timestamp;

		memcpy(&timestamp, at, sizeof(timestamp));
		assert_int_equal(frame.size_bytes, RQ_BYTES);
		assert_int_equal(frame.timestamp, timestamp);
		at += frame.size_bytes;
	}
}

/* It is the fragment of deliver() with this trigger. */
static void
expect_view(const struct weir_readout_fragment_view *view, uint64_t trigger)
{
	assert_int_equal(view->run, 7);
	assert_int_equal(view->trigger, trigger);
	assert_int_equal(view->begin, 5000);
	assert_int_equal(view->end, 5200);
	assert_int_equal(view->key, 100);
	assert_int_equal(view->answer, WEIR_READOUT_ANSWER_PARTIAL);
	assert_int_equal(view->parts, WEIR_READOUT_PART_FRAMES | WEIR_READOUT_PART_MISSING);
	assert_int_equal(view->nb_missing, 2);
	assert_int_equal(weir_readout_fragment_view_missing(view, 0).begin, 5100);
	assert_int_equal(weir_readout_fragment_view_missing(view, 1).end, 5170);
	assert_int_equal(view->name_bytes, 5);
	assert_memory_equal(view->name, "link0", 5);
	assert_int_equal(view->nb_frames, 17);
	assert_int_equal(view->total_bytes, FRAGMENT_BYTES);
	expect_frames(view);
}

/* All that there is to read: so many fragments, of these triggers on, nothing else. */
static void
expect_bytes(const uint8_t *bytes, size_t nb_bytes, uint64_t trigger, uint64_t nb)
{
	for (; nb > 0; nb--, trigger++) {
		struct weir_readout_fragment_view view;

		assert_int_equal(weir_readout_fragment_view(bytes, nb_bytes, &view), 0);
		expect_view(&view, trigger);
		bytes += view.total_bytes;
		nb_bytes -= view.total_bytes;
	}
	assert_int_equal(nb_bytes, 0);
}

static size_t
read_all(int fd, uint8_t *bytes, size_t room)
{
	size_t nb = 0;
	ssize_t more;

	while (nb < room && (more = read(fd, bytes + nb, room - nb)) > 0)
		nb += (size_t)more;
	return nb;
}

static void
expect_file(uint64_t trigger, uint64_t nb)
{
	static uint8_t bytes[64 * FRAGMENT_BYTES];
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	expect_bytes(bytes, read_all(fd, bytes, sizeof(bytes)), trigger, nb);
	close(fd);
}

/* The layout, byte by byte where it is not the view's. Cut, or changed anywhere, it is read within its bounds. */
static void
layout(void **state)
{
	const struct weir_readout_fragment *fragment;
	struct weir_readout_fragment_view view;
	uint8_t *bytes, *copy;
	uint64_t nb;

	make();
	fragment = rq_look(0, 5000, 5200);
	nb = weir_readout_fragment_bytes(fragment);
	assert_int_equal(nb, FRAGMENT_BYTES);
	bytes = malloc(nb);
	assert_non_null(bytes);
	weir_readout_fragment_write(fragment, bytes);
	assert_int_equal(weir_readout_fragment_view(bytes, nb, &view), 0);
	expect_view(&view, 6000);
	assert_memory_equal(bytes, "WFRG\1\0\x58\0", 8);
	assert_memory_equal(bytes + 16, "\7\0\0\0\0\0\0\0\x70\x17\0\0\0\0\0\0", 16);
	for (uint64_t cut = 0; cut < nb; cut++) {
		copy = malloc(cut + 1);
		assert_non_null(copy);
		memcpy(copy, bytes, cut);
		assert_int_equal(weir_readout_fragment_view(copy, cut, &view), -EAGAIN);
		assert_int_equal(view.total_bytes, cut < 16 ? 0 : nb);
		free(copy);
	}
	for (uint64_t i = 0; i < 88 * 8; i++) {
		bytes[i / 8] ^= (uint8_t)(1u << i % 8);
		if (weir_readout_fragment_view(bytes, nb, &view) == 0)
			for (uint32_t j = 0; j < view.nb_missing; j++)
				weir_readout_fragment_view_missing(&view, j);
		bytes[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	bytes[4] = 2; /* a later version */
	assert_int_equal(weir_readout_fragment_view(bytes, nb, &view), -EPROTO);
	free(bytes);
	rmdir(folder);
	rq_free();
}

static void
to_file(void **state)
{
	make();
	sender = weir_readout_sender_create(&(struct weir_readout_sender_config){.path = path});
	assert_non_null(sender);
	deliver(3);
	assert_int_equal(sums().queued, 3);
	assert_int_equal(weir_readout_sender_poll(sender, 0), 3);
	assert_int_equal(sums().sent, 3);
	assert_int_equal(sums().sent_bytes, 3 * FRAGMENT_BYTES);
	expect_file(0, 3);
	/* another one appends */
	weir_readout_sender_free(sender);
	sender = weir_readout_sender_create(&(struct weir_readout_sender_config){.path = path});
	assert_non_null(sender);
	deliver(2);
	assert_int_equal(weir_readout_sender_poll(sender, 0), 2);
	expect_file(0, 5);
	finish();
}

/* Nothing can be written there: each is lost, and the sender goes on. */
static void
full_disk(void **state)
{
	make();
	sender = weir_readout_sender_create(
		&(struct weir_readout_sender_config){.path = "/dev/full"});
	assert_non_null(sender);
	deliver(2);
	assert_int_equal(weir_readout_sender_poll(sender, 0), 2);
	assert_int_equal(sums().failed[WEIR_READOUT_SEND_WRITE_FAILED], 2);
	finish();
}

/* Room for a fragment and a half: the half is taken off, and what is written later follows the whole one. */
static void
file_without_room(void **state)
{
	struct rlimit limit, small;
	uint64_t failed;

	make();
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = (struct rlimit){FRAGMENT_BYTES * 3 / 2, limit.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	sender = weir_readout_sender_create(&(struct weir_readout_sender_config){.path = path});
	assert_non_null(sender);
	deliver(3);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	weir_readout_sender_poll(sender, 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	failed = sums().failed[WEIR_READOUT_SEND_WRITE_FAILED];
	assert_int_equal(failed, 2);
	expect_file(0, 1);
	weir_readout_sender_stop(sender);
	weir_readout_sender_free(sender);
	sender = weir_readout_sender_create(&(struct weir_readout_sender_config){.path = path});
	assert_non_null(sender);
	deliver(1);
	assert_int_equal(weir_readout_sender_poll(sender, 0), 1);
	assert_int_equal(sums().sent, 1);
	finish();
}

static void
refuse(struct weir_readout_sender_config config, int error)
{
	rte_errno = 0;
	assert_null(weir_readout_sender_create(&config));
	assert_int_equal(rte_errno, error);
}

/* Two that write one file would destroy each other's fragments: the second one is refused, and the file left as it is. */
static void
one_writer(void **state)
{
	make();
	sender = weir_readout_sender_create(&(struct weir_readout_sender_config){.path = path});
	assert_non_null(sender);
	deliver(2);
	assert_int_equal(weir_readout_sender_poll(sender, 0), 2);
	refuse((struct weir_readout_sender_config){.path = path}, EBUSY);
	refuse((struct weir_readout_sender_config){.path = path, .anew = true}, EBUSY);
	deliver(1);
	assert_int_equal(weir_readout_sender_poll(sender, 0), 1);
	expect_file(0, 3);
	/* it is free again, and made anew */
	weir_readout_sender_free(sender);
	sender = weir_readout_sender_create(
		&(struct weir_readout_sender_config){.path = path, .anew = true});
	assert_non_null(sender);
	deliver(2);
	assert_int_equal(weir_readout_sender_poll(sender, 0), 2);
	expect_file(3, 2);
	finish();
}

/* A pair of sockets: ours to read, of little room. */
static int
to_pair(uint32_t nb_queued, bool thread)
{
	int pair[2], small = 1024;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	sender = weir_readout_sender_create(&(struct weir_readout_sender_config){
		.fd = pair[1], .nb_queued = nb_queued, .stall_ns = SECOND, .thread = thread});
	assert_non_null(sender);
	return pair[0];
}

/* The peer takes a few bytes now and then, of fragments larger than what a socket takes at once: all of it arrives, in order. */
static void
slow_peer(void **state)
{
	static uint8_t bytes[8 * LARGE_BYTES];
	struct weir_readout_fragment_view view;
	size_t nb = 0;
	uint64_t now_ns = 0;
	int peer;

	make();
	rq_give_all(1, 5000, 6000);
	peer = to_pair(8, false);
	deliver_of(1, 6000, 8);
	while (nb < sizeof(bytes)) {
		ssize_t more;

		weir_readout_sender_poll(sender, now_ns += SECOND / 100);
		more = read(peer, bytes + nb, RTE_MIN(sizeof(bytes) - nb, (size_t)777));
		assert_true(more > 0);
		nb += (size_t)more;
		sums();
	}
	assert_true(sums().waits > 0);
	assert_int_equal(sums().sent, 8);
	for (uint64_t i = 0; i < 8; i++) {
		assert_int_equal(
			weir_readout_fragment_view(bytes + i * LARGE_BYTES, LARGE_BYTES, &view), 0);
		assert_int_equal(view.trigger, i);
		assert_int_equal(view.nb_frames, 100);
		expect_frames(&view);
	}
	close(peer);
	finish();
}

/* A peer that takes nothing: what does not fit the queue fails; other requests go on; in the end it is given up. */
static void
stalled_peer(void **state)
{
	uint64_t before;
	int peer;

	make();
	peer = to_pair(4, false);
	do {
		before = sums().sent;
		deliver(1);
		weir_readout_sender_poll(sender, 5);
	} while (sums().sent != before);
	deliver(6);
	assert_int_equal(sums().queued, 4);
	assert_true(sums().failed[WEIR_READOUT_SEND_QUEUE_FULL] > 0);
	assert_int_equal(rq_stats().held, 4);
	rq_expect(rq_look(0, 5000, 5010), WEIR_READOUT_ANSWER_COMPLETE, 1, 0);
	rq_release_all();
	assert_int_equal(weir_readout_sender_poll(sender, 4 + SECOND), 0);
	assert_int_equal(weir_readout_sender_poll(sender, 5 + SECOND), 4);
	assert_int_equal(sums().failed[WEIR_READOUT_SEND_STALLED], 1);
	assert_int_equal(sums().failed[WEIR_READOUT_SEND_PEER_GONE], 3);
	deliver(1);
	assert_int_equal(sums().failed[WEIR_READOUT_SEND_PEER_GONE], 4);
	assert_int_equal(rq_stats().held, 0);
	close(peer);
	finish();
}

static void
dead_peer(void **state)
{
	make();
	close(to_pair(4, false));
	deliver(3);
	assert_int_equal(weir_readout_sender_poll(sender, 0), 3);
	assert_int_equal(sums().failed[WEIR_READOUT_SEND_PEER_GONE], 3);
	deliver(1);
	assert_int_equal(sums().failed[WEIR_READOUT_SEND_PEER_GONE], 4);
	finish();
}

/* It connects to where somebody listens, and sends by itself. */
static void
own_thread(void **state)
{
	static uint8_t bytes[40 * FRAGMENT_BYTES];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), peer;

	make();
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	sender = weir_readout_sender_create(&(struct weir_readout_sender_config){
		.path = path, .stall_ns = 600 * SECOND, .thread = true});
	assert_non_null(sender);
	peer = accept(listener, NULL, NULL);
	assert_true(peer >= 0);
	deliver(40);
	expect_bytes(bytes, read_all(peer, bytes, sizeof(bytes)), 0, 40);
	while (sums().queued > 0)
		sched_yield();
	assert_int_equal(sums().sent, 40);
	/* nobody reads any more: it is stopped in the middle of something */
	for (uint64_t left = 2000; left > 0 && sums().queued < 30; left--) {
		if (rq_stats().held < 40)
			deliver(1);
		sched_yield();
	}
	weir_readout_sender_stop(sender);
	sums();
	deliver(1);
	assert_true(sums().failed[WEIR_READOUT_SEND_STOPPED] > 0);
	close(peer);
	close(listener);
	finish();
}

static void
nowhere(void **state)
{
	int pair[2];

	make();
	refuse((struct weir_readout_sender_config){.path = folder}, EISDIR);
	refuse((struct weir_readout_sender_config){.path = "/nonexistent/out"}, ENOENT);
	refuse((struct weir_readout_sender_config){.fd = -1}, EBADF);
	assert_int_equal(pipe(pair), 0);
	refuse((struct weir_readout_sender_config){.fd = pair[1]}, EINVAL);
	close(pair[0]);
	assert_int_equal(close(pair[1]), 0); /* it was ours still */
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	refuse((struct weir_readout_sender_config){.fd = pair[1]}, EINVAL);
	close(pair[0]);
	close(pair[1]);
	for (int i = 0; i < WEIR_READOUT_NB_SEND_FAILURES; i++)
		assert_non_null(weir_readout_send_failure_name((enum weir_readout_send_failure)i));
	assert_null(weir_readout_send_failure_name(WEIR_READOUT_NB_SEND_FAILURES));
	rmdir(folder);
	rq_free();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout),
		cmocka_unit_test(to_file),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(file_without_room),
		cmocka_unit_test(one_writer),
		cmocka_unit_test(slow_peer),
		cmocka_unit_test(stalled_peer),
		cmocka_unit_test(dead_peer),
		cmocka_unit_test(own_thread),
		cmocka_unit_test(nowhere),
	};

	return cmocka_run_group_tests_name("readout-sender", tests, NULL, NULL);
}
