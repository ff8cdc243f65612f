/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A capture file as the receiving half of a port. Of each record the bytes,
 * the time in ns, and how much of the frame the capture left out are kept.
 */

#include <stdio.h>
#include <stdlib.h>

#include <pcap/pcap.h>

#include "node_private.h"

struct node_pcap_in {
	pcap_t *pcap;
	char *path;
	char *port_name; /* for messages */
	struct rte_mempool *pool;
	struct stat st;
	uint32_t repeats_left;      /* after this pass */
	struct pcap_pkthdr *header; /* of a record read but not delivered yet */
	const uint8_t *bytes;       /* its bytes; NULL: none */
	uint64_t nb_read;           /* records of this pass */
	int ended;                  /* atomic; 0, 1 or negative errno */
	bool busy;                  /* atomic; a graph is reading */
	bool starved;               /* said so: no mbufs */
};

static int
open_pass(struct node_pcap_in *in)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	FILE *file = fopen(in->path, "rb");
	int type;

	if (file == NULL) {
		int rc = -errno;

		NODE_LOG(ERROR, "port '%s': cannot read '%s': %s", in->port_name, in->path,
			strerror(-rc));
		return rc;
	}
	if (fstat(fileno(file), &in->st) == 0 && S_ISDIR(in->st.st_mode)) {
		NODE_LOG(ERROR, "port '%s': '%s' is a directory, expected a capture file",
			in->port_name, in->path);
		fclose(file);
		return -EISDIR;
	}
	in->pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, why);
	if (in->pcap == NULL) {
		NODE_LOG(ERROR, "port '%s': '%s' is not a capture file: %s", in->port_name,
			in->path, why);
		fclose(file);
		return -EBADMSG;
	}
	type = pcap_datalink(in->pcap);
	if (type != DLT_EN10MB) {
		const char *name = pcap_datalink_val_to_name(type);

		NODE_LOG(ERROR, "port '%s': '%s' holds frames of type %s (%d), expected Ethernet",
			in->port_name, in->path, name == NULL ? "unknown" : name, type);
		pcap_close(in->pcap);
		in->pcap = NULL;
		return -EPROTONOSUPPORT;
	}
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
	if (in->pcap != NULL)
		pcap_close(in->pcap);
	free(in->path);
	free(in->port_name);
	free(in);
}

static void
end(struct node_pcap_in *in, int how)
{
	in->bytes = NULL;
	__atomic_store_n(&in->ended, how, __ATOMIC_RELEASE);
}

/* Read the next record. @return false at the end */
static bool
next_record(struct node_pcap_in *in)
{
	int rc = pcap_next_ex(in->pcap, &in->header, &in->bytes);

	/* An empty file would be repeated for ever, so it ends at once. */
	while (rc == PCAP_ERROR_BREAK && in->repeats_left > 0 && in->nb_read > 0) {
		pcap_close(in->pcap);
		in->pcap = NULL;
		in->repeats_left--;
		rc = open_pass(in);
		if (rc < 0) {
			end(in, rc);
			return false;
		}
		rc = pcap_next_ex(in->pcap, &in->header, &in->bytes);
	}
	if (rc == 1) {
		in->nb_read++;
		return true;
	}
	if (rc == PCAP_ERROR_BREAK) {
		end(in, 1);
	} else {
		NODE_LOG(ERROR, "port '%s': '%s' is damaged after packet %" PRIu64 ": %s",
			in->port_name, in->path, in->nb_read, pcap_geterr(in->pcap));
		end(in, -EBADMSG);
	}
	return false;
}

static struct rte_mbuf *
record_to_mbuf(struct node_pcap_in *in, uint64_t *nb_truncated)
{
	const struct pcap_pkthdr *header = in->header;
	struct rte_mbuf *m = node_mbuf_from_bytes(in->pool, in->bytes, header->caplen);

	if (m == NULL)
		return NULL;
	/* tv_usec counts ns: the file was opened so. */
	*RTE_MBUF_DYNFIELD(m, weir_node_dyn.timestamp, uint64_t *) =
		(uint64_t)header->ts.tv_sec * 1000000000u + (uint64_t)header->ts.tv_usec;
	m->ol_flags |= weir_node_dyn.timestamp_flag;
	if (header->len > header->caplen) {
		m->ol_flags |= weir_node_dyn.missing_flag;
		*RTE_MBUF_DYNFIELD(m, weir_node_dyn.missing, uint32_t *) =
			header->len - header->caplen;
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
	while (i < nb && in->ended == 0 && (in->bytes != NULL || next_record(in))) {
		mbufs[i] = record_to_mbuf(in, nb_truncated);
		if (mbufs[i] == NULL) {
			if (i == 0 && !in->starved)
				NODE_LOG(WARNING,
					"port '%s': no mbufs left, reading waits for them",
					in->port_name);
			in->starved |= i == 0;
			break;
		}
		in->bytes = NULL;
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
