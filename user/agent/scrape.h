/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SCRAPE_H
#define BPFPROFIL_SCRAPE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/*
 * Profiles of the next N seconds, on request. Several may run at the same time. The agent cuts the
 * session where a scrape begins and where it ends. Each part goes to all active scrapes, and to the
 * next profile of the interval, so that every tick is in each profile whose time includes it.
 */
#define SCRAPES_MAX 8
#define SCRAPE_SECONDS_MAX 300

struct scrape;

struct scrapes {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct scrape *list[SCRAPES_MAX];
	/* If one is readable, call scrapes_due(). */
	int event_fd; /* signalled by a new scrape */
	int timer_fd; /* expires when a scrape ends */
	uint64_t times_ns; /* time of the last reading of CPU times */
	bool wants_times; /* a client waits for a reading */
	bool closing;
};

int scrapes_open(struct scrapes *scrapes, struct error *err);

/*
 * For the thread of a request: waits for the profile. fd: the client's connection, -1 for none.
 * -EBUSY: there are too many scrapes; -EPIPE: the connection was closed; -ENODATA: there was
 * no memory for it; -ECANCELED: the agent is ending.
 */
int scrapes_wait(struct scrapes *scrapes, unsigned int seconds, int fd, struct profile **result,
		 struct error *err);

/*
 * For the thread of a request: has CPU times read if the last reading is older than a second. It
 * waits for two seconds at most, because the sampling thread may be busy with a profile.
 */
void scrapes_read_times(struct scrapes *scrapes);

/* Ends all waiting scrapes, and refuses new ones. */
void scrapes_cancel(struct scrapes *scrapes);

/*
 * For the sampling thread: whether a scrape needs a cut now, passes the part on, and updates the
 * scrapes that scrapes_due() saw.
 */
bool scrapes_due(struct scrapes *scrapes);
void scrapes_add_part(struct scrapes *scrapes, const struct profile *part);
void scrapes_update(struct scrapes *scrapes);

/* For the sampling thread: whether a client waits for CPU times, and that they were read. */
bool scrapes_want_times(struct scrapes *scrapes);
void scrapes_have_times(struct scrapes *scrapes);

void scrapes_close(struct scrapes *scrapes);

#endif
