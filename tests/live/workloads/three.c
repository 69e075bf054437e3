// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * three [UNITS [unlink | replace FILE]]: alpha, beta and delta burn 5 : 3 : 2. Half-way the
 * program's own file is removed, or FILE takes its name.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "spin.h"

SPIN_FUNCTION(alpha)
SPIN_FUNCTION(beta)
SPIN_FUNCTION(delta)

static void rounds(unsigned long units)
{
	unsigned long done, round = units < SPIN_ROUND ? 10 : SPIN_ROUND;

	for (done = 0; done < units; done += round) {
		alpha(round / 10 * 5);
		beta(round / 10 * 3);
		delta(round / 10 * 2);
	}
}

static int act(const char *action, const char *file)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0)
		return -1;
	self[len] = '\0';
	if (!strcmp(action, "unlink"))
		return unlink(self);
	return file ? rename(file, self) : -1;
}

int main(int argc, char **argv)
{
	unsigned long units = spin_argument(argc, argv, 1, 1000);

	if (argc < 3) {
		rounds(units);
		return 0;
	}
	rounds(units / 2);
	if (act(argv[2], argc > 3 ? argv[3] : NULL)) {
		perror(argv[2]);
		return 1;
	}
	rounds(units / 2);
	return 0;
}
