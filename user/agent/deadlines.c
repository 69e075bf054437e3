// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/deadlines.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>

#include "base/util.h"

struct deadline {
	struct deadlines *all;
	LIST_ENTRY(deadline) link;
	int fd;
	bool idle; /* no request has arrived */
	uint64_t due_ns; /* 0: none */
};

struct deadlines {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool has_thread;
	bool closing;
	LIST_HEAD(, deadline) list; /* the newest first */
};

/* Shuts down connections that are due. Returns when the next one is; 0: there is none. */
static uint64_t expire(struct deadlines *deadlines)
{
	uint64_t now = monotonic_ns(), next = 0;
	struct deadline *deadline;

	LIST_FOREACH(deadline, &deadlines->list, link) {
		if (deadline->due_ns && deadline->due_ns <= now) {
			shutdown(deadline->fd, SHUT_RDWR);
			deadline->due_ns = 0;
		}
		if (deadline->due_ns && (!next || deadline->due_ns < next))
			next = deadline->due_ns;
	}
	return next;
}

static void *watch(void *context)
{
	struct deadlines *deadlines = context;
	struct timespec due;
	uint64_t next;

	LOCK_SCOPE(&deadlines->lock);
	while (!deadlines->closing) {
		next = expire(deadlines);
		due = timespec_of(next);
		if (next)
			pthread_cond_timedwait(&deadlines->changed, &deadlines->lock, &due);
		else
			pthread_cond_wait(&deadlines->changed, &deadlines->lock);
	}
	return NULL;
}

int deadlines_open(struct deadlines **result, struct error *err)
{
	struct deadlines *deadlines = *result = calloc(1, sizeof(*deadlines));
	int code;

	if (!deadlines)
		return error_errno(err, -ENOMEM, "agent");
	cond_init_monotonic(&deadlines->changed);
	pthread_mutex_init(&deadlines->lock, NULL);
	code = pthread_create(&deadlines->thread, NULL, watch, deadlines);
	deadlines->has_thread = !code;
	return code ? error_errno(err, -code, "agent: thread") : 0;
}

void deadlines_close(struct deadlines *deadlines)
{
	if (!deadlines)
		return;
	if (deadlines->has_thread) {
		pthread_mutex_lock(&deadlines->lock);
		deadlines->closing = true;
		pthread_cond_signal(&deadlines->changed);
		pthread_mutex_unlock(&deadlines->lock);
		pthread_join(deadlines->thread, NULL);
	}
	pthread_cond_destroy(&deadlines->changed);
	pthread_mutex_destroy(&deadlines->lock);
	free(deadlines);
}

struct deadline *deadline_new(struct deadlines *deadlines, int fd, uint64_t ms)
{
	struct deadline *deadline = calloc(1, sizeof(*deadline));

	if (!deadline)
		return NULL;
	deadline->all = deadlines;
	deadline->fd = fd;
	deadline->idle = true;
	pthread_mutex_lock(&deadlines->lock);
	LIST_INSERT_HEAD(&deadlines->list, deadline, link);
	pthread_mutex_unlock(&deadlines->lock);
	deadline_set(deadline, ms);
	return deadline;
}

/* Whether data waits to be read, such as a request on a busy host. */
static bool has_unread(int fd)
{
	int bytes = 0;

	return !ioctl(fd, FIONREAD, &bytes) && bytes > 0;
}

unsigned int deadlines_make_room(struct deadlines *deadlines, unsigned int most)
{
	struct deadline *deadline, *oldest = NULL;
	unsigned int nr = 0;

	LOCK_SCOPE(&deadlines->lock);
	LIST_FOREACH(deadline, &deadlines->list, link) {
		nr++;
		if (deadline->idle && !has_unread(deadline->fd))
			oldest = deadline;
	}
	if (nr >= most && oldest) {
		shutdown(oldest->fd, SHUT_RDWR);
		oldest->idle = false;
	}
	return nr;
}

void deadline_request_arrived(struct deadline *deadline)
{
	if (!deadline)
		return;
	LOCK_SCOPE(&deadline->all->lock);
	deadline->idle = false;
	deadline->due_ns = 0;
}

void deadline_set(struct deadline *deadline, uint64_t ms)
{
	if (!deadline)
		return;
	LOCK_SCOPE(&deadline->all->lock);
	deadline->due_ns = monotonic_ns() + ms * 1000000;
	pthread_cond_signal(&deadline->all->changed);
}

void deadline_free(struct deadline *deadline)
{
	if (!deadline)
		return;
	pthread_mutex_lock(&deadline->all->lock);
	LIST_REMOVE(deadline, link);
	pthread_mutex_unlock(&deadline->all->lock);
	free(deadline);
}
