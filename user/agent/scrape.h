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
	bool closing;
};

int scrapes_open(struct scrapes *scrapes, struct error *err);

/*
 * For the thread that asks: waits for the profile. fd: the connection that it is for, -1 for none.
 * -EBUSY: there are too many; -EPIPE: the connection was closed; -ECANCELED: the agent is ending.
 */
int scrapes_wait(struct scrapes *scrapes, unsigned int seconds, int fd, struct profile **result,
		 struct error *err);

/* Ends all scrapes that wait, and refuses new ones. */
void scrapes_cancel(struct scrapes *scrapes);

/*
 * For the thread that samples: asks whether a part must be taken now, passes it on, and continues
 * with the scrapes that scrapes_due() saw.
 */
bool scrapes_due(struct scrapes *scrapes);
void scrapes_give(struct scrapes *scrapes, const struct profile *part);
void scrapes_turn(struct scrapes *scrapes);

void scrapes_close(struct scrapes *scrapes);

#endif
