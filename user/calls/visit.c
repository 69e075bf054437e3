// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/visit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "calls/worker.h"

enum {
	DESCRIPTORS_MAX = 253, /* in one message: SCM_MAX_FD */
	REQUEST_MAX = sizeof(struct call_request) + CALL_ENTRIES_MAX * sizeof(struct call_entry),
};

/*
 * A connection that the worker of its user handles, because reading from it may receive a
 * descriptor.
 */
struct visit {
	struct job job;
	uid_t only; /* a copy of the server's */
	pthread_mutex_t lock; /* for what two threads use: */
	int fd; /* -1: closed */
	bool begun;
	bool given_up; /* the client has been told */
	bool is_plain; /* it cannot contain a descriptor, so close() does not block */
	struct ucred sender;
	size_t size; /* of the request; 0: it has not been read */
	char *request;
};

/* Closes descriptors that a client sent; they are not used. */
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

static bool may_ask(const struct visit *visit)
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

/*
 * The request is read first, because otherwise the client would see a reset connection and no
 * reply.
 */
static void send_off(int fd, bool is_plain, int error)
{
	send_refusal(fd, error);
	if (is_plain)
		recv(fd, NULL, 0, MSG_DONTWAIT);
	close(fd);
}

/* A client that did not wait for the reply may have freed the buffer by now. */
static bool has_hung_up(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLRDHUP };

	return poll(&poll_fd, 1, 0) > 0 && poll_fd.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

static bool reply_to(struct visit *visit, const struct call_reply *reply)
{
	bool sent;

	pthread_mutex_lock(&visit->lock);
	sent = !visit->given_up && send(visit->fd, reply, sizeof(*reply),
					MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*reply);
	pthread_mutex_unlock(&visit->lock);
	return sent;
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

/* One byte more than the longest request, so that a longer one is noticed. */
static bool make_message_room(struct visit *visit, struct iovec *space)
{
	ssize_t size = recv(visit->fd, NULL, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);

	if (size <= 0)
		return false;
	space->iov_len = size < REQUEST_MAX ? (size_t)size : REQUEST_MAX + 1;
	space->iov_base = visit->request = malloc(space->iov_len);
	return visit->request != NULL;
}

/* Reads even without a request, because descriptors may have come without one. */
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

/* False: there is nobody left to answer. */
static bool begin_visit(struct visit *visit)
{
	bool given_up;

	pthread_mutex_lock(&visit->lock);
	given_up = visit->given_up;
	visit->begun = true;
	pthread_mutex_unlock(&visit->lock);
	return !given_up;
}

static struct worker *run_visit(struct job *job, struct worker *worker)
{
	struct visit *visit = (struct visit *)job;
	struct worker *other;

	if (!begin_visit(visit))
		worker = NULL;
	if (worker && !visit->size)
		receive(visit);
	if (worker && visit->size && !may_ask(visit)) {
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

	pthread_mutex_lock(&visit->lock);
	/* The worker is stuck, so it keeps no descriptor but the one that it is using. */
	if (visit->fd >= 0 && visit->is_plain && !visit->begun) {
		send_off(visit->fd, true, ETIMEDOUT);
		visit->fd = -1;
	} else if (visit->fd >= 0 && !visit->given_up) {
		send_refusal(visit->fd, ETIMEDOUT);
	}
	visit->given_up = true;
	pthread_mutex_unlock(&visit->lock);
}

void visit_begin(struct calls *calls, int fd, bool is_plain, uid_t only, const struct ucred *peer)
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
	ret = visit ? calls_give(calls, peer->pid, peer->uid, &visit->job) : -ENOMEM;
	if (!ret)
		return;
	send_off(fd, is_plain, -ret);
	free(visit);
}
