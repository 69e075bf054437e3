// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * A library with one function that burns; it is built twice, equal except for the function's name.
 */
#include "spin.h"

void plugin_run(unsigned long units);

SPIN_FUNCTION(FUNCTION)

void plugin_run(unsigned long units)
{
	FUNCTION(units);
}
