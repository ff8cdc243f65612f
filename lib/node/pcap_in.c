/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A capture file as the receiving half of a port. Of each record the bytes,
 * the time in ns, and how much of the frame the capture left out are kept.
 */

#include <stdlib.h>

#include "node_private.h"
#include "weir_base_pcap.h"

#define WHY_BYTES 1024

struct node_pcap_in {
	struct weir_base_pcap *file; /* NULL: it could not be opened anew */
	char *path;
	char *port_name; /* for messages */
	struct rte_mempool *pool;
	struct stat st;
	uint32_t repeats_left;               /* after this pass */
	struct weir_base_pcap_record record; /* read but not delivered yet; its bytes NULL: none */
	uint64_t nb_read;                    /* records of this pass */
	int ended;                           /* atomic; 0, 1 or negative errno */
	bool busy;                           /* atomic; a graph is reading */
	bool starved;                        /* said so: no mbufs */
};

static int
open_pass(struct node_pcap_in *in)
{
	char why[WHY_BYTES];
	int rc = weir_base_pcap_open(in->path, &in->file, why, sizeof(why));

	if (rc < 0) {
		NODE_LOG(ERROR, "port '%s': %s", in->port_name, why);
		return rc;
	}
	in->st = *weir_base_pcap_stat(in->file);
	in->nb_read = 0;
	return 0;
}

int
node_pcap_in_open(struct node_pcap_in **to, const char *path, uint32_t repeat,
	struct rte_mempool *pool, const char *port_name)
{
	struct node_pcap_in *in = calloc(1, sizeof(*in));
	int rc = -ENOMEM;

	if (in == NULL)
		return rc;
	in->path = strdup(path);
	in->port_name = strdup(port_name);
	in->pool = pool;
	in->repeats_left = repeat == 0 ? 0 : repeat - 1;
	if (in->path != NULL && in->port_name != NULL)
		rc = open_pass(in);
	if (rc < 0) {
		node_pcap_in_close(in);
		return rc;
	}
	*to = in;
	return 0;
}

void
node_pcap_in_close(struct node_pcap_in *in)
{
	if (in == NULL)
		return;
	weir_base_pcap_close(in->file);
	free(in->path);
	free(in->port_name);
	free(in);
}

static void
end(struct node_pcap_in *in, int how)
{
	in->record.bytes = NULL;
	__atomic_store_n(&in->ended, how, __ATOMIC_RELEASE);
}

/* Read the next record. @return false at the end */
static bool
next_record(struct node_pcap_in *in)
{
	char why[WHY_BYTES];
	int rc = weir_base_pcap_next(in->file, &in->record, why, sizeof(why));

	/* An empty file would be repeated for ever, so it ends at once. */
	while (rc == 0 && in->repeats_left > 0 && in->nb_read > 0) {
		weir_base_pcap_close(in->file);
		in->file = NULL;
		in->repeats_left--;
		rc = open_pass(in);
		if (rc < 0) {
			end(in, rc);
			return false;
		}
		rc = weir_base_pcap_next(in->file, &in->record, why, sizeof(why));
	}
	if (rc == 1) {
		in->nb_read++;
		return true;
	}
	if (rc == 0) {
		end(in, 1);
	} else {
		NODE_LOG(ERROR, "port '%s': %s", in->port_name, why);
		end(in, rc);
	}
	return false;
}

static struct rte_mbuf *
record_to_mbuf(struct node_pcap_in *in, uint64_t *nb_truncated)
{
	const struct weir_base_pcap_record *record = &in->record;
	struct rte_mbuf *m =
		weir_base_pcap_to_mbuf(in->pool, record->bytes, record->captured_bytes);

	if (m == NULL)
		return NULL;
	*RTE_MBUF_DYNFIELD(m, weir_node_dyn.timestamp, uint64_t *) = record->time_ns;
	m->ol_flags |= weir_node_dyn.timestamp_flag;
	if (record->wire_bytes > record->captured_bytes) {
		m->ol_flags |= weir_node_dyn.missing_flag;
		*RTE_MBUF_DYNFIELD(m, weir_node_dyn.missing, uint32_t *) =
			record->wire_bytes - record->captured_bytes;
		(*nb_truncated)++;
	}
	return m;
}

/* Without mbufs a record waits for the next call: nothing is lost. */
uint16_t
node_pcap_in_burst(
	struct node_pcap_in *in, struct rte_mbuf **mbufs, uint16_t nb, uint64_t *nb_truncated)
{
	uint16_t i = 0;

	if (__atomic_load_n(&in->ended, __ATOMIC_RELAXED) != 0 ||
		__atomic_test_and_set(&in->busy, __ATOMIC_ACQUIRE))
		return 0;
	while (i < nb && in->ended == 0 && (in->record.bytes != NULL || next_record(in))) {
		mbufs[i] = record_to_mbuf(in, nb_truncated);
		if (mbufs[i] == NULL) {
			if (i == 0 && !in->starved)
				NODE_LOG(WARNING,
					"port '%s': no mbufs left, reading waits for them",
					in->port_name);
			in->starved |= i == 0;
			break;
		}
		in->record.bytes = NULL;
		i++;
	}
	__atomic_clear(&in->busy, __ATOMIC_RELEASE);
	return i;
}

int
node_pcap_in_ended(const struct node_pcap_in *in)
{
	return __atomic_load_n(&in->ended, __ATOMIC_ACQUIRE);
}

bool
node_pcap_in_is(const struct node_pcap_in *in, const struct stat *st)
{
	return in->st.st_dev == st->st_dev && in->st.st_ino == st->st_ino;
}
