// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * threadexec N UNITS: beta burns 3 * UNITS in the leader, then alpha 5 * UNITS in a second
 * thread, which executes this program again, N times. The kernel then gives the thread the
 * leader's pid.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "spin.h"

static unsigned long left, each;
static char *units_text;

SPIN_FUNCTION(alpha)
SPIN_FUNCTION(beta)

static void *burn_and_execute(void *unused)
{
	char text[32];

	(void)unused;
	alpha(5 * each);
	if (left <= 1)
		_exit(0);
	snprintf(text, sizeof(text), "%lu", left - 1);
	execl("/proc/self/exe", "threadexec", text, units_text, (char *)NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 3)
		return 2;
	left = spin_argument(argc, argv, 1, 1);
	each = spin_argument(argc, argv, 2, 1);
	units_text = argv[2];
	beta(3 * each);
	if (pthread_create(&thread, NULL, burn_and_execute, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 1;
}
