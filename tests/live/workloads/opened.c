// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* opened LIBRARY UNITS: opens LIBRARY, burns UNITS, and only then twice as many in the library. */
#include "open_plugin.h"
#include "spin.h"

SPIN_FUNCTION(before)

int main(int argc, char **argv)
{
	unsigned long units = spin_argument(argc, argv, 2, 10);
	union plugin_run run;

	if (argc < 2 || !open_plugin(argv[1], &run) || !run.object)
		return 1;
	before(units);
	run.call(2 * units);
	return 0;
}
