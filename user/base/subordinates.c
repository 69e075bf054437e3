// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/subordinates.h"

bool subordinates_next(FILE *file, uint32_t *first, uint32_t *nr)
{
	char line[256];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%*[^:]:%u:%u", first, nr) == 2 && *first)
			return true;
	return false;
}
