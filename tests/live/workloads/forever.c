// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* forever [FILE]: writes its pid to FILE, then neighbour_spin burns until it is killed. */
#include <stdio.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

#include "spin.h"

SPIN_FUNCTION(neighbour_spin)

static int write_pid(const char *file)
{
	FILE *out = fopen(file, "w");

	if (!out)
		return -1;
	fprintf(out, "%d\n", getpid());
	return fclose(out);
}

int main(int argc, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc > 1 && write_pid(argv[1])) {
		perror(argv[1]);
		return 1;
	}
	for (;;)
		neighbour_spin(10);
}
