// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * swarm N UNITS [COMMAND...]: N processes, two at a time; each burns UNITS in alpha, beta and
 * delta, 5 : 3 : 2, or executes COMMAND. Unless UNITS is 0, each first burns up to 1 ms in gap,
 * because processes of equal length may be in step with the sampler's clock, and then are no random
 * sample.
 */
#include <unistd.h>

#include "spin.h"
#include "two_at_a_time.h"

SPIN_FUNCTION(alpha)
SPIN_FUNCTION(beta)
SPIN_FUNCTION(delta)
SPIN_FUNCTION(gap)

struct work {
	unsigned long units;
	char **command;
};

static void child(void *argument)
{
	const struct work *work = argument;

	if (work->units)
		gap((unsigned long)random() % 10);
	if (*work->command) {
		execv(*work->command, work->command);
		_exit(127);
	}
	alpha(work->units / 10 * 5);
	beta(work->units / 10 * 3);
	delta(work->units / 10 * 2);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct work work = { .units = spin_argument(argc, argv, 2, 20),
			     .command = argv + (argc > 3 ? 3 : argc) };

	return two_at_a_time(spin_argument(argc, argv, 1, 100), child, &work);
}
