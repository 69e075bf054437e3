// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "profile/folding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static char *list_of(const struct folding *folding)
{
	char *list;

	memcpy(&list, folding->list, sizeof(list));
	return list;
}

struct element {
	uint64_t key[2];
	const char *at;
};

static bool same_key(const struct element *a, const struct element *b)
{
	return a->key[0] == b->key[0] && a->key[1] == b->key[1];
}

static int compare_keys(const void *left, const void *right)
{
	const struct element *a = left, *b = right;
	int order = compare_u64(a->key[0], b->key[0]);

	if (!order)
		order = compare_u64(a->key[1], b->key[1]);
	return order ? order : (a->at > b->at) - (a->at < b->at);
}

static int compare_elements(const void *left, const void *right, void *context)
{
	const struct element *a = left, *b = right;
	const struct folding *const *folding = context;
	int order = (*folding)->compare(a->at, b->at);

	return order ? order : (a->at > b->at) - (a->at < b->at);
}

/*
 * Most elements with the same key are equal, so one comparison each usually shows that they need no
 * sorting.
 */
static void sort_equal_keys(const struct folding *folding, struct element *elements, size_t nr)
{
	size_t i, end;

	for (i = 0; i < nr; i = end) {
		bool ascending = true;

		for (end = i + 1; end < nr && same_key(&elements[end], &elements[i]); end++)
			if (ascending &&
			    folding->compare(elements[end - 1].at, elements[end].at) > 0)
				ascending = false;
		if (!ascending)
			qsort_r(elements + i, end - i, sizeof(*elements), compare_elements,
				&folding);
	}
}

/* Sorts the list; was[i] is the old index of element i. */
static int sort(const struct folding *folding, uint32_t *was)
{
	size_t nr = *folding->nr, size = folding->size, i;
	cleanup_free struct element *elements = calloc(nr + 1, sizeof(*elements));
	char *sorted = malloc((nr + 1) * size), *list = list_of(folding);

	if (!elements || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++)
		elements[i].at = list + i * size;
	if (folding->fill_key) {
		for (i = 0; i < nr; i++)
			folding->fill_key(elements[i].at, elements[i].key);
		qsort(elements, nr, sizeof(*elements), compare_keys);
	}
	sort_equal_keys(folding, elements, nr);
	for (i = 0; i < nr; i++) {
		was[i] = (uint32_t)((size_t)(elements[i].at - list) / size);
		memcpy(sorted + i * size, elements[i].at, size);
	}
	free(list);
	memcpy(folding->list, &sorted, sizeof(sorted));
	return 0;
}

/* Sets first[i] to whether element i differs from the one before it. */
static int combine(const struct folding *folding, bool *first)
{
	size_t nr = *folding->nr, size = folding->size, i, end;
	char *list = list_of(folding);
	int ret = 0;

	for (i = 0; i < nr; i++)
		first[i] = !i || folding->compare(list + (i - 1) * size, list + i * size);
	for (i = 0; i < nr && !ret; i = end) {
		end = i + 1;
		while (end < nr && !first[end])
			end++;
		if (end - i > 1)
			ret = folding->combine(list + i * size, end - i);
	}
	return ret;
}

/* ids, unless it is NULL, receives the new index for each old one. */
static void compact(const struct folding *folding, const bool *first, const uint32_t *was,
		    uint32_t *ids)
{
	size_t nr = *folding->nr, size = folding->size, to = 0, i;
	char *list = list_of(folding);

	for (i = 0; i < nr; i++) {
		if (first[i])
			memmove(list + to++ * size, list + i * size, size);
		if (ids)
			ids[was[i]] = (uint32_t)to - 1;
	}
	*folding->nr = to;
}

int folding_fold(struct folding folding, uint32_t *ids)
{
	cleanup_free uint32_t *was = calloc(*folding.nr + 1, sizeof(*was));
	cleanup_free bool *first = calloc(*folding.nr + 1, sizeof(*first));
	int ret = was && first ? 0 : -ENOMEM;

	if (!ret)
		ret = sort(&folding, was);
	if (!ret)
		ret = combine(&folding, first);
	if (!ret)
		compact(&folding, first, was, ids);
	return ret;
}
