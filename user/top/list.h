/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_LIST_H
#define BPFPROFIL_TOP_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "top/model.h"

/* By the last interval, by all of them, by the first column of names, by the second. */
enum top_sort { TOP_SORT_NOW, TOP_SORT_ALL, TOP_SORT_PLACE, TOP_SORT_NAME, TOP_SORTS };

/* Which rows of a model, and in which order. */
struct top_choice {
	enum top_by by;
	enum top_sort sort;
	const char *filter; /* a part of a name, in any case; NULL or "": all */
	bool idle; /* also rows without a tick in the last interval */
};

/* The rows are the model's, valid until its next interval. */
struct top_list {
	const struct top_row **rows;
	size_t nr;
	size_t capacity;
};

/* Takes the place of what the list held. -ENOMEM */
int top_list_choose(struct top_list *list, const struct top_model *model,
		    const struct top_choice *choice);
void top_list_free(struct top_list *list);

/*
 * What stands in a row's first column of names, as in a report: a function's object, an object's
 * kind, a process's pid; of a cgroup nothing. buffer is for a pid.
 */
enum { TOP_PLACE_BYTES = 24 };
const char *top_row_place(const struct top_row *row, enum top_by by, char buffer[TOP_PLACE_BYTES]);

#endif
