/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_LIST_H
#define BPFPROFIL_TOP_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "host/top/model.h"

/*
 * By the last interval, by all intervals, by the last interval including called functions, by the
 * first column of names, by the second.
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
	bool threads; /* processes are split into threads */
	bool callers; /* functions and objects have an inclusive time */
};

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

/* Replaces the contents of the list. Returns 0 or -ENOMEM. */
int top_list_choose(struct top_list *list, const struct top_model *model,
		    const struct top_choice *choice);
void top_list_free(struct top_list *list);

/*
 * The text of a row's first column, as in a report: a function's object, an object's kind, a
 * process's pid, or "" for a cgroup or a name. It writes a pid into buffer.
 */
enum { TOP_PLACE_BYTES = 24 };
const char *top_row_place(const struct top_row *row, enum top_by by, char buffer[TOP_PLACE_BYTES]);

/* The text of the second column. */
const char *top_row_name(const struct top_row *row);

#endif
