// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/util.h"
#include "calls/visit.h"

/* From Linux 6.16, because headers are older. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

enum {
	CONNECTIONS_MAX = 512,
	CONNECTIONS_PER_USER = 64,
	/*
	 * Short, because a client that connects without pause fills the queue, and all others wait
	 * behind it.
	 */
	QUEUE = 16,
	SILENCE_SECONDS = 2,
	EVENTS = 32,
	ACCEPTS = 64,
};

struct connection {
	int fd; /* -1: free */
	struct ucred peer; /* who connected */
	unsigned int seconds; /* of the connection's beginning */
	uint64_t number; /* a later connection has a higher number */
};

struct server {
	struct calls *calls;
	char *path; /* to be removed; NULL: the socket is not ours */
	uid_t only;
	bool is_plain; /* clients cannot send descriptors */
	int listen_fd;
	int epoll_fd;
	int timer_fd; /* runs while a client is connected */
	bool paused; /* accepting is paused, because there are no descriptors left */
	size_t nr_connections;
	uint64_t last_number;
	struct connection connections[CONNECTIONS_MAX];
};

static int watch_fd(struct server *server, int fd, uint64_t tag)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = tag };

	return epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

enum { TAG_LISTEN = CONNECTIONS_MAX, TAG_TIMER };

/* Whether the socket was left behind by a server that was killed, so that nobody listens on it. */
static bool abandoned(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct stat status;
	bool refused;

	if (fd < 0 || lstat(address->sun_path, &status) || !S_ISSOCK(status.st_mode)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	refused = connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
		  errno == ECONNREFUSED;
	close(fd);
	return refused;
}

/*
 * Sets the address and returns its length: with the final NUL for a path, and without it for an
 * abstract name.
 */
static socklen_t fill_address(const char *path, struct sockaddr_un *address)
{
	size_t length = strlen(path);

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (length >= sizeof(address->sun_path))
		return 0;
	memcpy(address->sun_path, path, length);
	if (*path != '@')
		return sizeof(*address);
	address->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

static int set_rights(struct server *server, const struct server_options *options,
		      struct error *err)
{
	server->path = strdup(options->path);
	if (!server->path)
		return error_set(err, -ENOMEM, "server: out of memory");
	if (chown(server->path, options->owner, options->group))
		return error_errno(err, -errno, "%s: chown", options->path);
	if (chmod(server->path, options->mode))
		return error_errno(err, -errno, "%s: chmod", options->path);
	return 0;
}

static int bind_path(struct server *server, const struct server_options *options, struct error *err)
{
	struct sockaddr_un address;
	socklen_t length = fill_address(options->path, &address);
	bool is_file = *options->path != '@';
	mode_t mask;
	int ret;

	if (!length)
		return error_set(err, -ENAMETOOLONG, "%s: too long for a socket", options->path);
	/* /run is empty after each boot. */
	if (!strcmp(options->path, CALL_SOCKET) && mkdir(CALL_SOCKET_FOLDER, 0755) &&
	    errno != EEXIST)
		return error_errno(err, -errno, CALL_SOCKET_FOLDER);
	if (is_file && abandoned(&address))
		unlink(options->path);
	/* Nobody may connect before the socket has its owner and mode. */
	mask = umask(0777);
	ret = bind(server->listen_fd, (struct sockaddr *)&address, length) ? -errno : 0;
	umask(mask);
	if (ret) {
		error_errno(err, ret, "%s", options->path);
		if (ret == -EADDRINUSE)
			error_hint(err, "a server may be running; --socket PATH for another");
		return ret;
	}
	return is_file ? set_rights(server, options, err) : 0;
}

static int start_listening(struct server *server, const struct server_options *options,
			   struct error *err)
{
	int on = 1, off = 0, ret;

	if (options->path) {
		server->listen_fd =
			socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (server->listen_fd < 0)
			return error_errno(err, -errno, "socket");
		ret = bind_path(server, options, err);
		if (ret)
			return ret;
	} else {
		server->listen_fd = options->listen_fd;
		/*
		 * systemd passes a blocking socket, on which accept() would block everything else.
		 */
		if (fcntl(server->listen_fd, F_SETFL, O_NONBLOCK) ||
		    fcntl(server->listen_fd, F_SETFD, FD_CLOEXEC))
			return error_errno(err, -errno, "the socket that was passed");
	}
	/*
	 * With this each message says who sent it, who may be another than the one that connected.
	 */
	if (setsockopt(server->listen_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		return error_errno(err, -errno, "socket: SO_PASSCRED");
	/*
	 * With this the kernel refuses descriptors at the sender; older kernels deliver them, and
	 * they are closed.
	 */
	server->is_plain =
		!setsockopt(server->listen_fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
	if (listen(server->listen_fd, QUEUE))
		return error_errno(err, -errno, "socket: listen");
	return 0;
}

int server_open(const struct server_options *options, struct calls *calls, struct server **result,
		struct error *err)
{
	struct server *server = calloc(1, sizeof(*server));
	int ret;
	size_t i;

	if (!server)
		return error_set(err, -ENOMEM, "server: out of memory");
	server->calls = calls;
	server->listen_fd = -1;
	server->only = options->only;
	for (i = 0; i < CONNECTIONS_MAX; i++)
		server->connections[i].fd = -1;
	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	server->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	ret = start_listening(server, options, err);
	if (!ret)
		ret = watch_fd(server, server->listen_fd, TAG_LISTEN);
	if (!ret)
		ret = watch_fd(server, server->timer_fd, TAG_TIMER);
	if (ret) {
		if (!err->text[0])
			error_errno(err, ret, "server: epoll");
		server_close(server);
		return ret;
	}
	*result = server;
	return 0;
}

int server_fd(const struct server *server)
{
	return server->epoll_fd;
}

static void set_silence_timer(struct server *server)
{
	struct itimerspec every = { 0 };

	if (server->nr_connections || server->paused)
		every.it_value.tv_sec = every.it_interval.tv_sec = 1;
	timerfd_settime(server->timer_fd, 0, &every, NULL);
}

/* Otherwise clients that wait to be accepted would wake the server all the time. */
static void pause_listening(struct server *server, bool paused)
{
	struct epoll_event event = { .events = paused ? 0 : EPOLLIN, .data.u64 = TAG_LISTEN };

	server->paused = paused;
	epoll_ctl(server->epoll_fd, EPOLL_CTL_MOD, server->listen_fd, &event);
	set_silence_timer(server);
}

static void leave_place(struct server *server, struct connection *connection)
{
	epoll_ctl(server->epoll_fd, EPOLL_CTL_DEL, connection->fd, NULL);
	visit_begin(server->calls, connection->fd, server->is_plain, server->only,
		    &connection->peer);
	connection->fd = -1;
	if (!--server->nr_connections)
		set_silence_timer(server);
}

static void reap_silent(struct server *server)
{
	uint64_t seconds;
	size_t i;

	if (read(server->timer_fd, &seconds, sizeof(seconds)) != sizeof(seconds))
		return;
	if (server->paused)
		pause_listening(server, false);
	for (i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->fd < 0)
			continue;
		connection->seconds += seconds;
		if (connection->seconds > SILENCE_SECONDS)
			leave_place(server, connection);
	}
}

static bool is_silent(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) <= 0;
}

/*
 * A free place, unless the user has used up theirs. If there is none, silent clients of many users
 * have taken them, and the one that has been silent longest is dropped, because a genuine client
 * sends at once.
 */
static struct connection *find_connection(struct server *server, uid_t uid)
{
	struct connection *place = NULL, *oldest = server->connections;
	size_t i, held = 0;

	for (i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->fd < 0)
			place = connection;
		else
			held += connection->peer.uid == uid;
		if (connection->number < oldest->number)
			oldest = connection;
	}
	if (held >= CONNECTIONS_PER_USER)
		return NULL;
	if (!place)
		leave_place(server, oldest);
	return place ? place : oldest;
}

/* Only a client that has not sent its request yet needs a place to wait in. */
static void take_in_connection(struct server *server, int fd)
{
	struct connection *place;
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size)) {
		close(fd);
		return;
	}
	place = is_silent(fd) ? find_connection(server, peer.uid) : NULL;
	if (!place || watch_fd(server, fd, place - server->connections)) {
		visit_begin(server->calls, fd, server->is_plain, server->only, &peer);
		return;
	}
	*place = (struct connection){ fd, peer, .number = ++server->last_number };
	if (!server->nr_connections++)
		set_silence_timer(server);
}

/* Accepts only some at a time, because counts must be copied too. */
static void accept_some(struct server *server)
{
	int i, fd;

	for (i = 0; i < ACCEPTS; i++) {
		fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			pause_listening(server, true);
		if (fd < 0)
			return;
		take_in_connection(server, fd);
	}
}

int server_poll(struct server *server, struct error *err)
{
	struct epoll_event events[EVENTS];
	int i, nr;

	nr = epoll_wait(server->epoll_fd, events, EVENTS, 0);
	if (nr < 0)
		return errno == EINTR ? 0 : error_errno(err, -errno, "server: epoll");
	for (i = 0; i < nr; i++) {
		uint64_t tag = events[i].data.u64;

		if (tag == TAG_LISTEN)
			accept_some(server);
		else if (tag == TAG_TIMER)
			reap_silent(server);
		else if (server->connections[tag].fd >= 0)
			leave_place(server, &server->connections[tag]);
	}
	return 0;
}

void server_close(struct server *server)
{
	size_t i;

	if (!server)
		return;
	for (i = 0; i < CONNECTIONS_MAX; i++)
		close_fd(&server->connections[i].fd);
	close_fd(&server->listen_fd);
	if (server->path)
		unlink(server->path);
	free(server->path);
	close(server->epoll_fd);
	close(server->timer_fd);
	free(server);
}
