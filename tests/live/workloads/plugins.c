// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * plugins ROUNDS UNITS A B: ROUNDS times opens A, burns 5 * UNITS in it, maps other memory and unmaps it amid
 * that, and closes A; and then the same with B and 3 * UNITS. Prints how often B was where A had been.
 */
#include <sys/mman.h>

#include "open_plugin.h"
#include "spin.h"

/* Returns where plugin_run was, or NULL. */
static const void *use(const char *path, unsigned long units)
{
	union plugin_run run;
	void *library = open_plugin(path, &run);

	if (!library)
		return NULL;
	if (run.object) {
		run.call(units / 2);
		munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
		run.call(units - units / 2);
	}
	dlclose(library);
	return run.object;
}

int main(int argc, char **argv)
{
	unsigned long rounds = spin_argument(argc, argv, 1, 100), i, same = 0;
	unsigned long units = spin_argument(argc, argv, 2, 10);

	if (argc < 5)
		return 2;
	for (i = 0; i < rounds; i++) {
		const void *a = use(argv[3], 5 * units);
		const void *b = use(argv[4], 3 * units);

		if (!a || !b)
			return 1;
		same += a == b;
	}
	printf("%lu\n", same);
	return 0;
}
