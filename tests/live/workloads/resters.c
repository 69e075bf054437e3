// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * resters N UNITS RUNS: N processes, two at a time; each burns UNITS in so many runs on a CPU, with a short
 * sleep between them. UNITS vary by up to as many, because processes of equal length may be in step with the
 * sampler's clock.
 */
#include <unistd.h>

#include "spin.h"
#include "two_at_a_time.h"

enum { SLEEP_US = 20 };

struct work {
	unsigned long units;
	unsigned long runs;
};

static void child(void *argument)
{
	const struct work *work = argument;
	unsigned long i;

	for (i = 0; i < work->runs; i++) {
		spin(work->units / work->runs);
		usleep(SLEEP_US);
	}
	spin((unsigned long)random() % work->units);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct work work = { .units = spin_argument(argc, argv, 2, 20),
			     .runs = spin_argument(argc, argv, 3, 2) };

	return two_at_a_time(spin_argument(argc, argv, 1, 100), child, &work);
}
