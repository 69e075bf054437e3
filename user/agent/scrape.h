/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SCRAPE_H
#define BPFPROFIL_SCRAPE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/*
 * Profiles of the next so many seconds, for as many as ask at once. The session is cut where a scrape
 * begins and where it ends, and each part goes to all scrapes that are under way and to the next
 * profile of the interval: none disturbs another, and each tick is in all that it falls into.
 */
#define SCRAPES_MAX 8
#define SCRAPE_SECONDS_MAX 300

struct scrape;

struct scrapes {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct scrape *list[SCRAPES_MAX];
	int fd; /* readable when scrapes_turn() has something to do */
	int event_fd; /* a new one */
	int timer_fd; /* one is over */
	uint64_t done; /* that were answered */
	bool closing;
};

int scrapes_open(struct scrapes *scrapes, struct error *err);

/* A thread that asks: waits for it. -EBUSY: there are too many; -ECANCELED: it ends. */
int scrapes_wait(struct scrapes *scrapes, unsigned int seconds, struct profile **ret,
		 struct error *err);

/* Those who wait are told to go, and no one comes. */
void scrapes_cancel(struct scrapes *scrapes);

/* The thread that samples: whether to take a part now, what was taken, and then on. */
bool scrapes_due(struct scrapes *scrapes);
void scrapes_give(struct scrapes *scrapes, const struct profile *part);
void scrapes_turn(struct scrapes *scrapes);

void scrapes_close(struct scrapes *scrapes);

#endif
