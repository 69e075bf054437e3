// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/scrape.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "agent/pending.h"
#include "base/util.h"

#define PARTS_CAP (8 << 20) /* limit for the parts of a scrape, above which they are merged */

#define TIMES_AGE_NS SECOND_NS
#define TIMES_WAIT_NS (2 * SECOND_NS)

enum scrape_state {
	SCRAPE_WANTED, /* not seen by the sampling thread yet */
	SCRAPE_BEGINNING, /* with the current cut */
	SCRAPE_ACTIVE,
	SCRAPE_ENDING, /* with the current cut */
	SCRAPE_DONE,
};

struct scrape {
	enum scrape_state state;
	uint64_t seconds;
	uint64_t due_ns;
	struct pending parts;
};

int scrapes_open(struct scrapes *scrapes, struct error *err)
{
	*scrapes = (struct scrapes){ 0 };
	pthread_mutex_init(&scrapes->lock, NULL);
	cond_init_monotonic(&scrapes->changed);
	scrapes->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	scrapes->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (scrapes->event_fd < 0 || scrapes->timer_fd < 0)
		return error_errno(err, -errno, "agent: scrapes");
	return 0;
}

void scrapes_close(struct scrapes *scrapes)
{
	close(scrapes->event_fd);
	close(scrapes->timer_fd);
	pthread_mutex_destroy(&scrapes->lock);
	pthread_cond_destroy(&scrapes->changed);
}

static struct scrape **find_free(struct scrapes *scrapes)
{
	size_t i;

	for (i = 0; i < SCRAPES_MAX; i++)
		if (!scrapes->list[i])
			return &scrapes->list[i];
	return NULL;
}

/* With TLS, bytes may still be unread after the connection was closed. */
static bool has_left(int fd)
{
	struct pollfd peer = { .fd = fd, .events = POLLRDHUP };

	return poll(&peer, 1, 0) > 0;
}

static int wait_done(struct scrapes *scrapes, const struct scrape *scrape, int fd)
{
	uint64_t look = monotonic_ns();
	struct timespec until = { 0 };

	while (scrape->state != SCRAPE_DONE && !scrapes->closing) {
		if (monotonic_ns() >= look) {
			if (has_left(fd))
				return -EPIPE;
			look = monotonic_ns() + SECOND_NS;
			until = timespec_of(look);
		}
		pthread_cond_timedwait(&scrapes->changed, &scrapes->lock, &until);
	}
	return scrape->state == SCRAPE_DONE ? 0 : -ECANCELED;
}

int scrapes_wait(struct scrapes *scrapes, unsigned int seconds, int fd, struct profile **result,
		 struct error *err)
{
	struct scrape scrape = { .seconds = seconds, .parts.cap = PARTS_CAP }, **place;
	uint64_t one = 1;
	int ret = 0;

	pthread_mutex_lock(&scrapes->lock);
	place = find_free(scrapes);
	if (scrapes->closing || !place) {
		ret = scrapes->closing ? -ECANCELED : -EBUSY;
	} else {
		*place = &scrape;
		ret = write(scrapes->event_fd, &one, sizeof(one)) == sizeof(one) ?
			      wait_done(scrapes, &scrape, fd) :
			      -ECANCELED;
		*place = NULL;
	}
	pthread_mutex_unlock(&scrapes->lock);
	if (!ret && !scrape.parts.nr)
		ret = -ENODATA;
	if (!ret)
		ret = pending_sum(&scrape.parts, scrape.parts.parts, scrape.parts.nr, result, err);
	pending_free(&scrape.parts);
	return ret;
}

void scrapes_read_times(struct scrapes *scrapes)
{
	uint64_t begin = monotonic_ns(), one = 1;
	const struct timespec until = timespec_of(begin + TIMES_WAIT_NS);

	LOCK_SCOPE(&scrapes->lock);
	if (scrapes->times_ns + TIMES_AGE_NS <= begin) {
		scrapes->wants_times = true;
		if (write(scrapes->event_fd, &one, sizeof(one)) < 0)
			scrapes->wants_times = false;
	}
	while (scrapes->wants_times && !scrapes->closing)
		if (pthread_cond_timedwait(&scrapes->changed, &scrapes->lock, &until))
			break;
}

bool scrapes_want_times(struct scrapes *scrapes)
{
	LOCK_SCOPE(&scrapes->lock);

	return scrapes->wants_times;
}

void scrapes_have_times(struct scrapes *scrapes)
{
	LOCK_SCOPE(&scrapes->lock);
	scrapes->wants_times = false;
	scrapes->times_ns = monotonic_ns();
	pthread_cond_broadcast(&scrapes->changed);
}

void scrapes_cancel(struct scrapes *scrapes)
{
	LOCK_SCOPE(&scrapes->lock);
	scrapes->closing = true;
	pthread_cond_broadcast(&scrapes->changed);
}

/* Returns whether the scrape begins or ends with this cut. */
static bool mark(struct scrape *scrape, uint64_t now)
{
	if (scrape->state == SCRAPE_WANTED)
		scrape->state = SCRAPE_BEGINNING;
	else if (scrape->state == SCRAPE_ACTIVE && scrape->due_ns <= now)
		scrape->state = SCRAPE_ENDING;
	return scrape->state == SCRAPE_BEGINNING || scrape->state == SCRAPE_ENDING;
}

static bool takes_parts(const struct scrape *scrape)
{
	return scrape->state == SCRAPE_ACTIVE || scrape->state == SCRAPE_ENDING;
}

bool scrapes_due(struct scrapes *scrapes)
{
	uint64_t now = monotonic_ns(), count;
	bool due = false;
	size_t i;

	LOCK_SCOPE(&scrapes->lock);
	/* Read the events first, so that a later request makes them readable again. */
	while (read(scrapes->event_fd, &count, sizeof(count)) > 0 ||
	       read(scrapes->timer_fd, &count, sizeof(count)) > 0)
		;
	for (i = 0; i < SCRAPES_MAX; i++)
		if (scrapes->list[i])
			due |= mark(scrapes->list[i], now);
	return due;
}

void scrapes_add_part(struct scrapes *scrapes, const struct profile *part)
{
	struct error err;
	size_t i;

	LOCK_SCOPE(&scrapes->lock);
	for (i = 0; i < SCRAPES_MAX; i++)
		if (scrapes->list[i] && takes_parts(scrapes->list[i]))
			pending_add(&scrapes->list[i]->parts, part, &err);
}

static void arm(struct scrapes *scrapes, uint64_t due_ns)
{
	struct itimerspec at = { .it_value = timespec_of(due_ns) };

	timerfd_settime(scrapes->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/*
 * Scrapes that arrived or became due since scrapes_due() have no cut yet. They wait for the next
 * call.
 */
void scrapes_update(struct scrapes *scrapes)
{
	uint64_t now = monotonic_ns(), next = 0;
	struct scrape *scrape;
	size_t i;

	LOCK_SCOPE(&scrapes->lock);
	for (i = 0; i < SCRAPES_MAX; i++) {
		scrape = scrapes->list[i];
		if (!scrape)
			continue;
		if (scrape->state == SCRAPE_BEGINNING) {
			scrape->state = SCRAPE_ACTIVE;
			scrape->due_ns = now + scrape->seconds * SECOND_NS;
		} else if (scrape->state == SCRAPE_ENDING) {
			scrape->state = SCRAPE_DONE;
		}
		if (scrape->state == SCRAPE_ACTIVE && (!next || scrape->due_ns < next))
			next = scrape->due_ns;
	}
	arm(scrapes, next);
	pthread_cond_broadcast(&scrapes->changed);
}
