// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "reader/frame.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/util.h"

struct head {
	uint64_t kind;
	int64_t code;
	uint64_t size; /* of the body after it */
};

/* Receive a body in pieces, so that no memory is allocated for bytes that never come. */
enum { CHUNK_BYTES = 1 << 20 };

static int wait_for(const struct frame_line *line, short events)
{
	return line->wait ? line->wait(line->ctx, events) : 0;
}

/* Try first, and wait only if the call would block. */
static int flags_of(const struct frame_line *line)
{
	return MSG_NOSIGNAL | (line->wait ? MSG_DONTWAIT : 0);
}

/* Interprets a failed call. 0: try again, now or after waiting; or -errno. */
static int try_again(const struct frame_line *line, short events)
{
	if (errno == EINTR)
		return 0;
	return errno == EAGAIN ? wait_for(line, events) : -errno;
}

static int send_all(const struct frame_line *line, const uint8_t *bytes, size_t size)
{
	ssize_t sent;
	int ret = 0;

	while (!ret && size) {
		sent = send(line->socket, bytes, size, flags_of(line));
		if (sent < 0)
			ret = try_again(line, POLLOUT);
		bytes += sent > 0 ? sent : 0;
		size -= sent > 0 ? (size_t)sent : 0;
	}
	return ret;
}

int frame_send(const struct frame_line *line, const struct reader_frame *frame)
{
	struct head head = { frame->kind, frame->code, frame->body.nr };
	struct iovec parts[] = { { &head, sizeof(head) }, { frame->body.bytes, frame->body.nr } };
	int ret = frame->body.bad ? -ENOMEM : 0;
	ssize_t sent = -1;

	while (!ret && sent < 0) {
		sent = helper_send(line->socket, parts, 2, frame->fds, flags_of(line));
		if (sent < 0)
			ret = try_again(line, POLLOUT);
	}
	if (ret)
		return ret;
	if ((size_t)sent < sizeof(head))
		return -EPIPE;
	sent -= (ssize_t)sizeof(head);
	return (size_t)sent == frame->body.nr ?
		       0 :
		       send_all(line, frame->body.bytes + sent, frame->body.nr - (size_t)sent);
}

/* A head is sent whole. Therefore a partial one is invalid. */
static int receive_head(const struct frame_line *line, struct head *head, int fds[HELPER_FDS])
{
	int ret = wait_for(line, POLLIN);
	ssize_t got;

	if (ret)
		return ret;
	do
		got = helper_receive(line->socket, head, sizeof(*head),
				     line->receives_fds ? fds : NULL);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	return got == sizeof(*head) ? 0 : -EPIPE;
}

static int receive_body(const struct frame_line *line, uint64_t size, struct wire *body)
{
	size_t most;
	ssize_t got;
	int ret = 0;

	while (!ret && body->nr < size) {
		most = min_size(size - body->nr, CHUNK_BYTES);
		ret = GROW(body->bytes, body->room, body->nr + most);
		if (ret)
			break;
		got = recv(line->socket, body->bytes + body->nr, most, flags_of(line));
		if (got < 0)
			ret = try_again(line, POLLIN);
		else if (!got)
			ret = -EPIPE;
		body->nr += got > 0 ? (size_t)got : 0;
	}
	return ret;
}

int frame_receive(const struct frame_line *line, struct reader_frame *frame)
{
	struct head head = { 0 };
	int ret;

	wire_free(&frame->body);
	frame->fds[0] = frame->fds[1] = -1;
	ret = receive_head(line, &head, frame->fds);
	if (ret)
		return ret;
	frame->kind = (enum frame_kind)head.kind;
	frame->code = head.code;
	return head.size > line->most ? -E2BIG : receive_body(line, head.size, &frame->body);
}
