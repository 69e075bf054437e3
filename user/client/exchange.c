// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "client/calls.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "client/sys.h"

/* The limit for each step: connecting, sending, receiving the reply. Tests make it shorter. */
#ifndef CLIENT_PATIENCE_SECONDS
#define CLIENT_PATIENCE_SECONDS 5
#endif

/* The size of the address, or -errno. */
static int make_address(const char *path, struct sockaddr_un *address)
{
	size_t len = strlen(path);

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (len >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	memcpy(address->sun_path, path, len);
	if (path[0] != '@')
		return (int)sizeof(*address);
	address->sun_path[0] = '\0';
	return (int)(offsetof(struct sockaddr_un, sun_path) + len);
}

static int limit_waiting(int fd)
{
	const struct timeval patience = { .tv_sec = CLIENT_PATIENCE_SECONDS };
	long ret;

	ret = SYS(setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!ret)
		ret = SYS(setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return (int)ret;
}

/* On a socket with a timeout, EAGAIN means that the time is up. */
static int or_timed_out(long ret)
{
	return ret == -EAGAIN ? -ETIMEDOUT : (int)ret;
}

/*
 * Once a server is gone, anybody can listen on an abstract name that they have seen, and a request
 * contains a secret that the kernel gave to this image alone. Therefore only root or this user may
 * listen on our names, @bpfprofil-...
 */
static int check_peer(int fd, const char *path)
{
	static const char ours[] = "@bpfprofil-";
	socklen_t size = sizeof(struct ucred);
	struct ucred peer;
	long ret;

	if (strncmp(path, ours, sizeof(ours) - 1) != 0)
		return 0;
	ret = SYS(getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	if (ret)
		return (int)ret;
	return peer.uid && peer.uid != (uid_t)SYS(geteuid, 0) ? -EACCES : 0;
}

/* The connection, or -errno. */
static int dial(const char *path)
{
	struct sockaddr_un address;
	int size = make_address(path, &address), fd, ret;

	if (size < 0)
		return size;
	fd = (int)SYS(socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	ret = limit_waiting(fd);
	if (!ret)
		ret = or_timed_out(SYS_RETRY(connect, fd, &address, size));
	if (!ret)
		ret = check_peer(fd, path);
	if (!ret)
		return fd;
	SYS(close, fd);
	return ret;
}

static int send_request(int fd, const struct call_request *request,
			const struct call_entry *entries)
{
	struct iovec parts[2] = {
		{ (void *)request, sizeof(*request) },
		{ (void *)entries, request->nr_entries * sizeof(*entries) },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = request->nr_entries ? 2 : 1 };

	/* A message is sent completely or not at all. */
	return or_timed_out(SYS_RETRY(sendmsg, fd, &message, MSG_NOSIGNAL));
}

static int check_reply(long size, const struct call_reply *reply)
{
	if (size == 0)
		return -ECONNRESET;
	if (size != sizeof(*reply) || reply->magic != CALL_MAGIC ||
	    reply->version != CALL_VERSION || reply->error < 0 || reply->error > 4095)
		return -EPROTO;
	return 0;
}

static int receive_reply(int fd, struct call_reply *reply)
{
	long got = SYS_RETRY(recvfrom, fd, reply, sizeof(*reply), MSG_TRUNC, NULL, NULL);

	if (got == -EAGAIN) {
		/*
		 * From here on the server cannot send, and learns that its work is not wanted. A
		 * reply that it has already sent counts.
		 */
		SYS(shutdown, fd, SHUT_RDWR);
		got = SYS_RETRY(recvfrom, fd, reply, sizeof(*reply), MSG_TRUNC | MSG_DONTWAIT, NULL,
				NULL);
		if (got <= 0)
			return -ETIMEDOUT;
	}
	return got < 0 ? (int)got : check_reply(got, reply);
}

int client_exchange(const char *path, const struct call_request *request,
		    const struct call_entry *entries, struct call_reply *reply)
{
	int fd = dial(path), ret;

	if (fd < 0)
		return fd;
	ret = send_request(fd, request, entries);
	if (ret >= 0)
		ret = receive_reply(fd, reply);
	SYS(close, fd);
	return ret;
}
