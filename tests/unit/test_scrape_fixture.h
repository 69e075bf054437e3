/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TEST_SCRAPE_FIXTURE_H
#define BPFPROFIL_TEST_SCRAPE_FIXTURE_H

#include "agent/scrape.h"

/* How many have a place. */
static inline size_t scrapes_that_wait(struct scrapes *scrapes)
{
	size_t i, nr = 0;

	pthread_mutex_lock(&scrapes->lock);
	for (i = 0; i < SCRAPES_MAX; i++)
		nr += scrapes->list[i] != NULL;
	pthread_mutex_unlock(&scrapes->lock);
	return nr;
}

#endif
