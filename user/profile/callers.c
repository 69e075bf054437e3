// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/callers.h"

#include <stdlib.h>

#define WALK_END_WORD(id, key, text) [END_##id] = key,
const char *const walk_end_words[WALK_END_COUNT] = { WALK_ENDS(WALK_END_WORD) };
#undef WALK_END_WORD

void profile_callers_free(struct profile_callers *callers)
{
	size_t i;

	if (!callers)
		return;
	for (i = 0; i < callers->nr_roots; i++) {
		free(callers->roots[i].process);
		free(callers->roots[i].cgroup);
	}
	free(callers->roots);
	free(callers->nodes);
	free(callers->sites);
	free(callers);
}
