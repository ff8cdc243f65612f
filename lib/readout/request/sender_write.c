/* SPDX-License-Identifier: BSD-3-Clause */
/* A fragment on its way out, in as many pieces as it takes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "sender_private.h"

#define PIECES_MAX 64

int
writing_begin(struct writing *writing, struct weir_readout_fragment *fragment)
{
	uint64_t head_bytes = weir_readout_fragment_head_bytes(fragment);

	if (head_bytes > writing->head_room) {
		uint8_t *head = realloc(writing->head, head_bytes);

		if (head == NULL)
			return -ENOMEM;
		writing->head = head;
		writing->head_room = head_bytes;
	}
	weir_readout_fragment_head(fragment, writing->head);
	writing->fragment = fragment;
	writing->head_bytes = head_bytes;
	writing->head_sent = 0;
	writing->frame = 0;
	writing->frame_sent = 0;
	return 0;
}

/* What is to be written next. @return how many pieces; 0: all is written */
static int
pieces_of(const struct writing *writing, struct iovec *pieces)
{
	const struct weir_readout_window *window = writing->fragment->window;
	uint64_t skip = writing->frame_sent;
	int nb = 0;

	if (writing->head_sent < writing->head_bytes)
		pieces[nb++] = (struct iovec){writing->head + writing->head_sent,
			writing->head_bytes - writing->head_sent};
	for (uint32_t i = writing->frame; nb < PIECES_MAX && i < window->nb_frames; i++) {
		pieces[nb++] = (struct iovec){(uint8_t *)window->frames[i].iov_base + skip,
			window->frames[i].iov_len - skip};
		skip = 0;
	}
	return nb;
}

/* So much of it is written. */
static void
move_on(struct writing *writing, uint64_t nb_bytes)
{
	const struct weir_readout_window *window = writing->fragment->window;
	uint64_t of_head = writing->head_bytes - writing->head_sent;

	if (of_head > nb_bytes)
		of_head = nb_bytes;
	writing->head_sent += of_head;
	writing->frame_sent += nb_bytes - of_head;
	if (writing->head_sent < writing->head_bytes)
		return;
	/* frames without a byte too */
	while (writing->frame < window->nb_frames &&
		writing->frame_sent >= window->frames[writing->frame].iov_len)
		writing->frame_sent -= window->frames[writing->frame++].iov_len;
}

static ssize_t
write_pieces(const struct outlet *outlet, struct iovec *pieces, int nb)
{
	const struct msghdr message = {.msg_iov = pieces, .msg_iovlen = (size_t)nb};

	return outlet->is_socket ? sendmsg(outlet->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL)
				 : writev(outlet->fd, pieces, nb);
}

int
writing_go_on(struct writing *writing, const struct outlet *outlet, uint64_t *nb_bytes)
{
	struct iovec pieces[PIECES_MAX];
	int nb;

	*nb_bytes = 0;
	while ((nb = pieces_of(writing, pieces)) > 0) {
		ssize_t written = write_pieces(outlet, pieces, nb);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return errno == EWOULDBLOCK ? -EAGAIN : -errno;
		if (written == 0)
			return -EIO; /* there was something to write */
		*nb_bytes += (uint64_t)written;
		move_on(writing, (uint64_t)written);
	}
	return 0;
}
