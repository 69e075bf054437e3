// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/chance.h"

#include <sys/random.h>

#include "base/util.h"

uint64_t chance_below(uint64_t most_ns)
{
	uint32_t random;

	/* Early after boot there is none. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint32_t)monotonic_ns();
	return (uint64_t)((unsigned __int128)most_ns * random >> 32);
}
