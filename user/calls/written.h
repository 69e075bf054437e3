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
	uint64_t before; /* what stood there */
	uint64_t after;
	uint64_t taken_ns; /* since when the kernel's counter has no longer had it */
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

/*
 * To a child that was born at born_ns: what its parent's counters did not have then, its image does
 * not show, and the parent has not changed since.
 */
void written_make_up(const struct written_list *list, const struct process *parent,
		     struct process *child, uint64_t born_ns);

void written_free(struct written_list *list);

#endif
