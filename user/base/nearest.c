// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/nearest.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define WORD_MAX 63

/* The optimal string alignment distance, with only three rows at a time. */
size_t word_distance(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2], *spare;
	size_t la = strlen(a), lb = strlen(b);
	size_t i, j;

	if (la > WORD_MAX || lb > WORD_MAX)
		return SIZE_MAX;
	for (j = 0; j <= lb; j++)
		above[j] = j;
	for (i = 1; i <= la; i++) {
		row[0] = i;
		for (j = 1; j <= lb; j++) {
			row[j] = min_size(min_size(above[j] + 1, row[j - 1] + 1),
					  above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[lb];
}

const char *nearest_word(const char *typed, const char *const *words)
{
	size_t length = strlen(typed), best = SIZE_MAX, distance, limit;
	const char *nearest = NULL;

	for (; *words; words++) {
		distance = word_distance(typed, *words);
		limit = strlen(*words) > length ? strlen(*words) : length;
		limit = limit < 6 ? 2 : limit / 3;
		if (length >= 2 && !strncmp(typed, *words, length))
			distance = 1;
		/* For a very short word, do not suggest one that shares no letter with it. */
		if (distance > limit || distance >= length || distance >= best)
			continue;
		best = distance;
		nearest = *words;
	}
	return nearest;
}

int names_add(struct names *names, const char *name, size_t length)
{
	int ret;

	/* One more element, for the final NULL. */
	ret = GROW(names->list, names->capacity, names->nr + 2);
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
	free_all(names->list, names->nr);
	*names = (struct names){ 0 };
}
