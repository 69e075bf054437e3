// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/exact_ticks.h"

#include <stdlib.h>

#include "base/util.h"

int exact_ticks_gather(struct exact_ticks *ticks, struct profile_weights *weights,
		       struct bin_walk *walk)
{
	struct exact_tick *last;
	struct bin_place place;
	int ret;

	ticks->nr = 0;
	ticks->wide = 0;
	while (bin_walk_next(walk, &place)) {
		if (place.histogram->bytes_per_bin != 1) {
			ticks->wide += place.ticks;
			continue;
		}
		if (!ticks->nr || ticks->all[ticks->nr - 1].offset != place.offset) {
			ret = grow((void **)&ticks->all, &ticks->room, ticks->nr + 1,
				   sizeof(*ticks->all));
			if (ret)
				return ret;
			ticks->all[ticks->nr++] = (struct exact_tick){ .offset = place.offset };
		}
		last = &ticks->all[ticks->nr - 1];
		last->ticks += place.ticks;
		last->ns += profile_weights_take(weights, place.histogram, place.ticks);
	}
	return 0;
}

size_t exact_ticks_from(const struct exact_ticks *ticks, uint64_t offset)
{
	return BISECT(i, ticks->nr, ticks->all[i].offset < offset);
}

void exact_ticks_free(struct exact_ticks *ticks)
{
	free(ticks->all);
}
