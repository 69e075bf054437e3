/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RUNS_H
#define BPFPROFIL_RUNS_H

#include <stddef.h>
#include <stdint.h>

/* Which runs of an array's elements are free: tables of regions come and go in one shared array. */
struct run {
	uint32_t first;
	uint32_t nr;
};

struct runs {
	struct run *list; /* free ones, ascending, never adjacent */
	size_t nr;
	size_t capacity;
	size_t taken; /* runs that may come back */
};

int runs_init(struct runs *runs, uint32_t elements); /* 0 or -ENOMEM */

/* Takes nr elements: their first, or -ENOSPC. */
int64_t runs_take(struct runs *runs, uint32_t nr);

/* Gives a run back that was taken. Room for it was made when it was: it cannot fail. */
void runs_give(struct runs *runs, uint32_t first, uint32_t nr);

void runs_free(struct runs *runs);

#endif
