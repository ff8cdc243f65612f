/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A capture file as the transmitting half of a port, or of what is punted.
 * Written here rather than by libpcap, for exact accounts: when the disk is full,
 * it is known which packets are in the file, and the file ends with a whole one.
 */

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "node_private.h"

#define MAGIC_NS     UINT32_C(0xa1b23c4d) /* times in ns, byte order of the writer */
#define LINK_TYPE    1                    /* Ethernet */
#define SNAP_LENGTH  262144 /* of a longer frame the rest is left out, its length kept */
#define BUFFER_BYTES (1024 * 1024)

struct file_header {
	uint32_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t zone;
	uint32_t accuracy;
	uint32_t snap_length;
	uint32_t link_type;
};

struct record_header {
	uint32_t seconds;
	uint32_t ns;
	uint32_t captured;
	uint32_t length;
};

struct node_pcap_out {
	pthread_mutex_t lock;
	int fd;
	char *path;
	struct stat st;
	uint8_t *buffer;
	size_t used;       /* bytes in the buffer */
	uint32_t buffered; /* packets in the buffer */
	uint64_t size;     /* of the file, up to its last whole packet */
	uint64_t lost;     /* packets taken that did not reach the file */
	int failed;        /* 0 or negative errno: nothing more is taken */
};

/* Make the directories that lead to a file. */
static int
make_directories(const char *path)
{
	char *copy = strdup(path);
	int rc = 0;

	if (copy == NULL)
		return -ENOMEM;
	for (char *slash = strchr(copy + 1, '/'); slash != NULL && rc == 0;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			rc = -errno;
		*slash = '/';
	}
	free(copy);
	return rc;
}

static int
write_all(int fd, const uint8_t *bytes, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Under the lock. */
static int
flush(struct node_pcap_out *out)
{
	int rc;

	if (out->used == 0)
		return out->failed;
	rc = write_all(out->fd, out->buffer, out->used);
	if (rc == 0) {
		out->size += out->used;
	} else {
		/* What part of the buffer got there is not worth the doubt: the file ends before it. */
		if (S_ISREG(out->st.st_mode) && (ftruncate(out->fd, (off_t)out->size) < 0 ||
							lseek(out->fd, 0, SEEK_END) < 0))
			NODE_LOG(ERROR, "'%s' ends with a part of a packet: %s", out->path,
				strerror(errno));
		NODE_LOG(ERROR,
			"cannot write to '%s': %s; %u packets are lost and no more are taken",
			out->path, strerror(-rc), out->buffered);
		out->lost += out->buffered;
		out->failed = rc;
	}
	out->used = 0;
	out->buffered = 0;
	return rc;
}

/*
 * A file that is there already is written anew, unless somebody else needs it: in this process, or in another one, as long as that writes
 * it. Two that write one file would overwrite each other's packets. Where a file system knows no locks there is nothing to ask.
 */
static int
take_file(struct node_pcap_out *out)
{
	const char *port = node_port_of_file(&out->st, false);
	int rc = 0;

	if (port != NULL) {
		NODE_LOG(ERROR, "cannot write to '%s': %s uses this file", out->path, port);
		return -EEXIST;
	}
	if (flock(out->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		NODE_LOG(ERROR,
			"cannot write to '%s': this file is being written already, maybe by "
			"another "
			"process; expected a file of its own for each",
			out->path);
		return -EBUSY;
	}
	if (ftruncate(out->fd, 0) < 0) {
		rc = -errno;
		NODE_LOG(ERROR, "cannot write to '%s': %s", out->path, strerror(-rc));
	}
	return rc;
}

static int
prepare_file(struct node_pcap_out *out)
{
	const struct file_header header = {
		.magic = MAGIC_NS,
		.major = 2,
		.minor = 4,
		.snap_length = SNAP_LENGTH,
		.link_type = LINK_TYPE,
	};
	int rc = make_directories(out->path);

	if (rc == 0)
		out->fd = open(out->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (rc < 0 || out->fd < 0 || fstat(out->fd, &out->st) < 0) {
		rc = rc < 0 ? rc : -errno;
		NODE_LOG(ERROR, "cannot write to '%s': %s", out->path, strerror(-rc));
		return rc;
	}
	if (S_ISREG(out->st.st_mode))
		rc = take_file(out);
	if (rc < 0)
		return rc;
	rc = write_all(out->fd, (const uint8_t *)&header, sizeof(header));
	if (rc < 0)
		NODE_LOG(ERROR, "cannot write to '%s': %s", out->path, strerror(-rc));
	out->size = sizeof(header);
	return rc;
}

int
node_pcap_out_open(struct node_pcap_out **to, const char *path)
{
	struct node_pcap_out *out = calloc(1, sizeof(*out));
	int rc;

	if (out == NULL)
		return -ENOMEM;
	pthread_mutex_init(&out->lock, NULL);
	out->fd = -1;
	out->path = strdup(path);
	out->buffer = malloc(BUFFER_BYTES);
	rc = out->path == NULL || out->buffer == NULL ? -ENOMEM : prepare_file(out);
	if (rc < 0) {
		node_pcap_out_close(out);
		return rc;
	}
	*to = out;
	return 0;
}

int
node_pcap_out_close(struct node_pcap_out *out)
{
	int rc = 0;

	if (out == NULL)
		return 0;
	if (out->fd >= 0) {
		rc = flush(out);
		if (close(out->fd) < 0 && rc == 0) {
			rc = -errno;
			NODE_LOG(ERROR, "cannot write to '%s': %s", out->path, strerror(-rc));
		}
	}
	pthread_mutex_destroy(&out->lock);
	free(out->buffer);
	free(out->path);
	free(out);
	return rc;
}

static uint64_t
packet_time(const struct rte_mbuf *m, uint64_t *now_ns)
{
	if (m->ol_flags & weir_node_dyn.timestamp_flag)
		return *RTE_MBUF_DYNFIELD(m, weir_node_dyn.timestamp, const uint64_t *);
	if (*now_ns == 0) {
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		*now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	}
	return *now_ns;
}

static void
append(struct node_pcap_out *out, const struct rte_mbuf *m, uint64_t time_ns, uint32_t captured)
{
	const struct record_header header = {
		.seconds = (uint32_t)(time_ns / 1000000000u),
		.ns = (uint32_t)(time_ns % 1000000000u),
		.captured = captured,
		.length = m->pkt_len + node_missing(m),
	};
	uint8_t *to = out->buffer + out->used;

	memcpy(to, &header, sizeof(header));
	to += sizeof(header);
	out->used += sizeof(header) + captured;
	for (; captured > 0; m = m->next) {
		uint32_t take = RTE_MIN(captured, (uint32_t)m->data_len);

		memcpy(to, rte_pktmbuf_mtod(m, const void *), take);
		to += take;
		captured -= take;
	}
	out->buffered++;
}

/*
 * Write packets; they stay the caller's. Their times are those they came with,
 * or now.
 *
 * Returns how many were taken: all of them until the file has failed.
 */
uint16_t
node_pcap_out_write(struct node_pcap_out *out, struct rte_mbuf *const *mbufs, uint16_t nb)
{
	uint64_t now_ns = 0;
	uint16_t i;

	pthread_mutex_lock(&out->lock);
	for (i = 0; i < nb; i++) {
		uint32_t captured = RTE_MIN(mbufs[i]->pkt_len, (uint32_t)SNAP_LENGTH);

		if (out->used + sizeof(struct record_header) + captured > BUFFER_BYTES)
			flush(out);
		if (out->failed != 0)
			break;
		append(out, mbufs[i], packet_time(mbufs[i], &now_ns), captured);
	}
	pthread_mutex_unlock(&out->lock);
	return i;
}

int
node_pcap_out_flush(struct node_pcap_out *out)
{
	int rc;

	pthread_mutex_lock(&out->lock);
	rc = flush(out);
	pthread_mutex_unlock(&out->lock);
	return rc;
}

uint64_t
node_pcap_out_lost(struct node_pcap_out *out)
{
	uint64_t lost;

	pthread_mutex_lock(&out->lock);
	lost = out->lost;
	pthread_mutex_unlock(&out->lock);
	return lost;
}

bool
node_pcap_out_is(const struct node_pcap_out *out, const struct stat *st)
{
	return out->st.st_dev == st->st_dev && out->st.st_ino == st->st_ino;
}
