// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Which parts a scrape gets, whatever happens while one is being made. */
#include "agent/scrape.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <unistd.h>

#include "sample.h"
#include "test_scrape_fixture.h"

static struct scrapes scrapes;
static struct profile *part;
static uint64_t given; /* parts that some scrape began or ended with */

static void begin(void)
{
	struct error err;

	cr_assert_eq(scrapes_open(&scrapes, &err), 0, "%s", err.text);
	part = sample_profile();
}

static void end(void)
{
	profile_free(part);
	scrapes_close(&scrapes);
}

TestSuite(scrape, .init = begin, .fini = end);

/* A scrape by a thread of its own. */
struct asker {
	pthread_t thread;
	unsigned int seconds;
	uint64_t parts; /* how many it got in the end */
};

static void *wait_for_profile(void *context)
{
	struct asker *asker = context;
	struct profile *profile = NULL;
	struct error err = { 0 };

	cr_assert_eq(scrapes_wait(&scrapes, asker->seconds, -1, &profile, &err), 0, "%s", err.text);
	asker->parts = profile->ticks.total / part->ticks.total;
	profile_free(profile);
	return NULL;
}

static void ask(struct asker *asker)
{
	size_t before = scrapes_that_wait(&scrapes);

	cr_assert_eq(pthread_create(&asker->thread, NULL, wait_for_profile, asker), 0);
	while (scrapes_that_wait(&scrapes) == before)
		usleep(1000);
}

static bool is_readable(int timeout)
{
	struct pollfd fds[] = { { .fd = scrapes.event_fd, .events = POLLIN },
				{ .fd = scrapes.timer_fd, .events = POLLIN } };

	return poll(fds, 2, timeout) > 0;
}

static bool is_due(void)
{
	return is_readable(10000) && scrapes_due(&scrapes);
}

static void give(void)
{
	scrapes_add_part(&scrapes, part);
	given++;
}

/* One turn of the agent. */
static void cut(void)
{
	cr_assert(is_due());
	give();
	scrapes_update(&scrapes);
}

/* What the agent does until it has its profile. */
static void finish(const struct asker *asker)
{
	while (pthread_tryjoin_np(asker->thread, NULL)) {
		if (!is_readable(10))
			continue;
		if (scrapes_due(&scrapes))
			give();
		scrapes_update(&scrapes);
	}
}

Test(scrape, asked_for_while_a_part_is_made)
{
	struct asker first = { .seconds = 1 }, second = { .seconds = 1 };

	ask(&first);
	cr_assert(is_due());
	/* The part has been cut, and is being named. */
	ask(&second);
	give();
	scrapes_update(&scrapes);
	give(); /* a profile of the interval */
	cut();
	given = 0;
	finish(&first);
	finish(&second);
	cr_expect_geq(first.parts, 3);
	cr_expect_eq(second.parts, given, "its own, and none of before it asked");
}

Test(scrape, due_while_a_part_is_made)
{
	struct asker first = { .seconds = 2 }, second = { .seconds = 1 };

	ask(&first);
	cut();
	ask(&second);
	cr_assert(is_due());
	give();
	usleep(2100000);
	scrapes_update(&scrapes);
	cut();
	finish(&first);
	cr_expect_eq(first.parts, 2, "the last one too");
	finish(&second);
}

/* The agent is woken by others too. */
Test(scrape, a_turn_without_a_part)
{
	struct asker first = { .seconds = 1 };

	ask(&first);
	cut();
	usleep(1100000);
	scrapes_update(&scrapes);
	cut();
	finish(&first);
	cr_expect_eq(first.parts, 1);
}
