/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_WRITTEN_H
#define BPFPROFIL_WRITTEN_H

#include <stddef.h>
#include <stdint.h>

#include "calls/process.h"

/*
 * What the last copies wrote into a buffer. A fork makes the child's image first and its call some
 * time later; what is taken from the parent's counters and written to the parent's buffer between
 * the two is in neither of the child's, unless it is made up from here.
 */
struct written {
	uint64_t address;
	uint64_t flat; /* the counter's number in the call */
	uint64_t before; /* what stood there */
	uint64_t after;
	uint64_t from_ns; /* until when the kernel's counter had it, */
	uint64_t taken_ns; /* and since when no longer */
	uint32_t width;
};

struct written_list {
	struct written *list; /* in the order of time */
	size_t nr;
	size_t capacity;
};

/* Without memory it is forgotten, which few forks would notice. */
void written_add(struct written_list *list, const struct written *written);

/* Those that no fork is too late for any more. */
void written_forget(struct written_list *list, uint64_t before_ns);

/* When a child's counters were made from its parent's. */
struct birth {
	uint64_t from_ns;
	uint64_t until_ns;
	/* What it got of one of them; CALL_NOT_INHERITED: it is not to have any of it. */
	uint32_t (*inherited)(const struct birth *birth, uint64_t flat);
};

/*
 * To a child: what its parent's counters did not have any more when it was born, its image does not
 * show, and the parent has not changed since. Where the two overlap in time, as they do when either
 * loses its CPU amid them, a counter was there still if the child got most of it: less is ticks that
 * came after, and they are few.
 */
void written_make_up(const struct written_list *list, const struct process *parent,
		     struct process *child, const struct birth *birth);

void written_free(struct written_list *list);

#endif
