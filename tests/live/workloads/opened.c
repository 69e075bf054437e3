// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* opened LIBRARY UNITS: opens LIBRARY, burns UNITS, and only then twice as many in the library. */
#include <dlfcn.h>
#include <stdio.h>

#include "spin.h"

SPIN_FUNCTION(before)

int main(int argc, char **argv)
{
	unsigned long units = spin_argument(argc, argv, 2, 10);
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	union {
		void *object;
		void (*call)(unsigned long units);
	} run;

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	before(units);
	run.object = dlsym(library, "plugin_run");
	if (!run.object)
		return 1;
	run.call(2 * units);
	return 0;
}
