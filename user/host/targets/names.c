// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/targets/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/util.h"

int names_add(struct names *names, const char *name, size_t length)
{
	int ret;

	/* One more element, for the final NULL. */
	ret = grow((void **)&names->list, &names->capacity, names->nr + 2, sizeof(*names->list));
	if (ret)
		return ret;
	names->list[names->nr] = strndup(name, length);
	if (!names->list[names->nr])
		return -ENOMEM;
	names->list[++names->nr] = NULL;
	return 0;
}

const char *names_nearest(struct names *names, const char *typed)
{
	return names->nr ? nearest_word(typed, (const char *const *)names->list) : NULL;
}

void names_free(struct names *names)
{
	size_t i;

	for (i = 0; i < names->nr; i++)
		free(names->list[i]);
	free(names->list);
	*names = (struct names){ 0 };
}
