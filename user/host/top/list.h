/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_LIST_H
#define BPFPROFIL_TOP_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "host/top/model.h"

/*
 * By the last interval, by all intervals, by the last one with all that was called, by the first column of
 * names, by the second.
 */
enum top_sort {
	TOP_SORT_NOW,
	TOP_SORT_ALL,
	TOP_SORT_INCLUSIVE,
	TOP_SORT_PLACE,
	TOP_SORT_NAME,
	TOP_SORTS
};

/* Which rows of a model to list, and in which order. */
struct top_choice {
	enum top_by by;
	enum top_sort sort;
	const char *filter; /* part of a name, in any case; NULL or "": all */
	bool idle; /* include rows without a tick in the last interval */
	bool threads; /* what is told apart as processes are threads */
	bool callers; /* functions and objects have what they called, too */
};

/* Whether rows have an inclusive time. */
static inline bool top_has_inclusive(const struct top_choice *choice)
{
	return choice->callers && choice->by <= TOP_OBJECTS;
}

/* The rows belong to the model and are valid until its next interval. */
struct top_list {
	const struct top_row **rows;
	size_t nr;
	size_t capacity;
};

/* Replaces the contents of the list; -ENOMEM. */
int top_list_choose(struct top_list *list, const struct top_model *model,
		    const struct top_choice *choice);
void top_list_free(struct top_list *list);

/*
 * The text of a row's first column, as in a report: a function's object, an object's kind, a
 * process's pid, and "" for a cgroup or a name. buffer is used for a pid.
 */
enum { TOP_PLACE_BYTES = 24 };
const char *top_row_place(const struct top_row *row, enum top_by by, char buffer[TOP_PLACE_BYTES]);

/* The text of the second column. */
const char *top_row_name(const struct top_row *row);

#endif
