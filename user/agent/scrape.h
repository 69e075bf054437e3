/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SCRAPE_H
#define BPFPROFIL_SCRAPE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/*
 * Profiles of the next N seconds, for everybody who asks, even at the same time. The session is cut
 * where a scrape begins and where it ends, and each part goes to all scrapes in progress and to the
 * next profile of the interval. So they do not disturb each other, and each tick is in all that it
 * belongs to.
 */
#define SCRAPES_MAX 8
#define SCRAPE_SECONDS_MAX 300

struct scrape;

struct scrapes {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct scrape *list[SCRAPES_MAX];
	int fd; /* readable when scrapes_turn() has something to do */
	int event_fd; /* signalled for a new scrape */
	int timer_fd; /* expires when a scrape is over */
	uint64_t times_ns; /* when CPU times were read last, */
	bool wants_times; /* and that somebody waits for them */
	bool closing;
};

int scrapes_open(struct scrapes *scrapes, struct error *err);

/*
 * For the thread that asks: waits for the profile. fd: the connection that it is for, -1 for none.
 * -EBUSY: there are too many; -EPIPE: the connection was closed; -ECANCELED: the agent is ending.
 */
int scrapes_wait(struct scrapes *scrapes, unsigned int seconds, int fd, struct profile **result,
		 struct error *err);

/*
 * For the thread that asks: has CPU times read, unless they were less than a second ago. It waits for this
 * at most two seconds, for the thread that samples may be making a profile.
 */
void scrapes_read_times(struct scrapes *scrapes);

/* Ends all scrapes that wait, and refuses new ones. */
void scrapes_cancel(struct scrapes *scrapes);

/*
 * For the thread that samples: asks whether a part must be taken now, passes it on, and continues
 * with the scrapes that scrapes_due() saw.
 */
bool scrapes_due(struct scrapes *scrapes);
void scrapes_give(struct scrapes *scrapes, const struct profile *part);
void scrapes_turn(struct scrapes *scrapes);

/* Whether CPU times are wanted, and that they were read. */
bool scrapes_want_times(struct scrapes *scrapes);
void scrapes_have_times(struct scrapes *scrapes);

void scrapes_close(struct scrapes *scrapes);

#endif
