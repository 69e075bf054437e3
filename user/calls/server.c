// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/util.h"
#include "calls/calls.h"
#include "calls/worker.h"

enum {
	DESCRIPTORS_MAX = 253, /* in one message: SCM_MAX_FD */
	REQUEST_MAX = sizeof(struct call_request) + CALL_ENTRIES_MAX * sizeof(struct call_entry),
};

/*
 * A connection in the hands of its user's worker, because reading from it may receive a descriptor.
 */
struct visit {
	struct job job;
	uid_t only; /* a copy of the server's */
	pthread_mutex_t lock; /* for what two threads use: */
	int fd; /* -1: closed */
	bool begun;
	bool given_up; /* the client has an answer */
	bool is_plain; /* it cannot contain a descriptor: close() does not block */
	struct ucred sender;
	size_t size; /* of the request; 0: not read yet */
	char *request;
};

/* Closes descriptors from a client, which are not used. */
static void close_passed(struct msghdr *message)
{
	struct cmsghdr *part;
	size_t i, n;
	int fd;

	for (part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		n = (part->cmsg_len - CMSG_LEN(0)) / sizeof(fd);
		for (i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(part) + i * sizeof(fd), sizeof(fd));
			close(fd);
		}
	}
}

static bool sender_of(struct msghdr *message, struct ucred *result)
{
	struct cmsghdr *part;

	for (part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(result, CMSG_DATA(part), sizeof(*result));
		return result->pid > 0;
	}
	return false;
}

static bool may_request(const struct visit *visit)
{
	return visit->only == (uid_t)-1 || !visit->sender.uid || visit->sender.uid == visit->only;
}

static void send_refusal(int fd, int error)
{
	const struct call_reply reply = { .magic = CALL_MAGIC,
					  .version = CALL_VERSION,
					  .error = error };

	send(fd, &reply, sizeof(reply), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Read the request first. Otherwise the client would see a reset connection and no reply. */
static void send_off(int fd, bool is_plain, int error)
{
	send_refusal(fd, error);
	if (is_plain)
		recv(fd, NULL, 0, MSG_DONTWAIT);
	close(fd);
}

/* A client that did not wait for the reply may have freed the buffer. */
static bool has_hung_up(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLRDHUP };

	return poll(&poll_fd, 1, 0) > 0 && poll_fd.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

static bool reply_to(struct visit *visit, const struct call_reply *reply)
{
	LOCK_SCOPE(&visit->lock);

	return !visit->given_up && send(visit->fd, reply, sizeof(*reply),
					MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*reply);
}

static void answer_visit(struct visit *visit, struct worker *worker)
{
	struct call_reply reply;
	uint64_t made;

	if (has_hung_up(visit->fd))
		return;
	made = calls_request(worker, visit->sender.pid, visit->sender.uid,
			     (const struct call_request *)visit->request, visit->size, &reply);
	if (!reply_to(visit, &reply))
		calls_withdraw(worker, made);
}

/* One byte more than the longest request, to detect a longer one. */
static bool make_message_room(struct visit *visit, struct iovec *space)
{
	ssize_t size = recv(visit->fd, NULL, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);

	if (size <= 0)
		return false;
	space->iov_len = size < REQUEST_MAX ? (size_t)size : REQUEST_MAX + 1;
	space->iov_base = visit->request = malloc(space->iov_len);
	return visit->request != NULL;
}

/* Reads even without a request, because descriptors may arrive without one. */
static void receive(struct visit *visit)
{
	char control[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
	struct iovec space = { 0 };
	struct msghdr message = { .msg_iov = &space,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	ssize_t got;

	make_message_room(visit, &space);
	got = recvmsg(visit->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got < 0)
		return;
	close_passed(&message);
	if (sender_of(&message, &visit->sender))
		visit->size = (size_t)got;
}

static void end_visit(struct visit *visit)
{
	int fd = visit->fd;

	pthread_mutex_lock(&visit->lock);
	visit->fd = -1;
	pthread_mutex_unlock(&visit->lock);
	if (fd >= 0)
		close(fd);
	free(visit->request);
	pthread_mutex_destroy(&visit->lock);
}

/* False: the client is gone. */
static bool begin_visit(struct visit *visit)
{
	LOCK_SCOPE(&visit->lock);

	visit->begun = true;
	return !visit->given_up;
}

static struct worker *run_visit(struct job *job, struct worker *worker)
{
	struct visit *visit = (struct visit *)job;
	struct worker *other;

	if (!begin_visit(visit))
		worker = NULL;
	if (worker && !visit->size)
		receive(visit);
	if (worker && visit->size && !may_request(visit)) {
		send_refusal(visit->fd, EACCES);
	} else if (worker && visit->size) {
		other = calls_worker(worker, visit->sender.pid, visit->sender.uid);
		if (other && other != worker)
			return other;
		if (other)
			answer_visit(visit, worker);
		else
			send_refusal(visit->fd, EDQUOT);
	}
	end_visit(visit);
	return NULL;
}

static void give_up_visit(struct job *job)
{
	struct visit *visit = (struct visit *)job;

	LOCK_SCOPE(&visit->lock);
	/* The worker is stuck. Therefore it may keep only the descriptor that it is using. */
	if (visit->fd >= 0 && visit->is_plain && !visit->begun) {
		send_off(visit->fd, true, ETIMEDOUT);
		visit->fd = -1;
	} else if (visit->fd >= 0 && !visit->given_up) {
		send_refusal(visit->fd, ETIMEDOUT);
	}
	visit->given_up = true;
}

/*
 * Passes a connection to the worker of the peer's user, which reads the request, answers it and
 * closes the connection. Even closing may block, because it may have received a descriptor.
 * is_plain: that is impossible. only: who may make requests, besides root; (uid_t)-1: anybody.
 */
static void visit_begin(struct calls *calls, int fd, bool is_plain, uid_t only,
			const struct ucred *peer)
{
	struct visit *visit = calloc(1, sizeof(*visit));
	int ret;

	if (visit) {
		*visit = (struct visit){
			.job = { .run = run_visit, .give_up = give_up_visit },
			.fd = fd,
			.only = only,
			.is_plain = is_plain,
		};
		pthread_mutex_init(&visit->lock, NULL);
	}
	ret = visit ? calls_enqueue(calls, peer->pid, peer->uid, &visit->job) : -ENOMEM;
	if (!ret)
		return;
	send_off(fd, is_plain, -ret);
	free(visit);
}

/* From Linux 6.16; headers are older. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

enum {
	CONNECTIONS_MAX = 512,
	CONNECTIONS_PER_USER = 64,
	/*
	 * Short: a client that connects without pause fills the queue, and all others wait behind
	 * it.
	 */
	QUEUE = 16,
	SILENCE_SECONDS = 2,
	EVENTS = 32,
	ACCEPTS = 64,
};

struct connection {
	int fd; /* -1: free */
	struct ucred peer; /* the process that connected */
	unsigned int seconds; /* since the connection began */
	uint64_t number; /* later connections have higher numbers */
};

struct server {
	struct calls *calls;
	char *path; /* to be removed; NULL: not our socket */
	uid_t only;
	bool is_plain; /* clients cannot send descriptors */
	int listen_fd;
	int epoll_fd;
	int timer_fd; /* runs while a client is connected */
	bool paused; /* not accepting: there are no descriptors left */
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

/* Whether a killed server left the socket, and nobody listens on it. */
static bool abandoned(const struct sockaddr_un *address)
{
	cleanup_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct stat status;

	return fd >= 0 && !lstat(address->sun_path, &status) && S_ISSOCK(status.st_mode) &&
	       connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
	       errno == ECONNREFUSED;
}

/*
 * Sets the address and returns its length: with the final NUL for a path, without it for an
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
	if (chown(server->path, (uid_t)-1, options->group))
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
		 * systemd passes a blocking socket, on which accept() would block the whole server.
		 */
		if (fcntl(server->listen_fd, F_SETFL, O_NONBLOCK) ||
		    fcntl(server->listen_fd, F_SETFD, FD_CLOEXEC))
			return error_errno(err, -errno, "the socket that was passed");
	}
	/* Then each message has its sender, who may differ from the process that connected. */
	if (setsockopt(server->listen_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		return error_errno(err, -errno, "socket: SO_PASSCRED");
	/*
	 * Then the kernel refuses descriptors at the sender. Older kernels deliver them, and they
	 * are closed.
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
 * Finds a free place, unless the user has used all of theirs. If there is none, silent clients of
 * many users fill the table. Drop the one that was silent longest, because genuine clients send at
 * once.
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

/* Only a client that has not sent its request needs a place to wait. */
static void accept_connection(struct server *server, int fd)
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

/* Limit the number, because counts must be copied too. */
static void accept_some(struct server *server)
{
	int i, fd;

	for (i = 0; i < ACCEPTS; i++) {
		fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			pause_listening(server, true);
		if (fd < 0)
			return;
		accept_connection(server, fd);
	}
}

int server_poll(struct server *server, struct error *err)
{
	struct epoll_event events[EVENTS];
	int i, nr = epoll_wait(server->epoll_fd, events, EVENTS, 0);

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
