/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FOLDING_H
#define BPFPROFIL_FOLDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A list in which equal elements are combined. */
struct folding {
	void *list; /* where the pointer to the list is, of whatever type */
	size_t *nr;
	size_t size;
	int (*compare)(const void *left, const void *right);
	/*
	 * Elements with different keys are ordered by these, without calling compare. May be NULL.
	 */
	void (*fill_key)(const void *element, uint64_t key[2]);
	/*
	 * Adds all others to the first element and zeroes what it released. -ENOMEM: all elements
	 * are still valid.
	 */
	int (*combine)(void *first, size_t nr);
};

/*
 * Sorts the list and combines equal elements. ids, unless it is NULL, gets the new index of each
 * element by its old one. -ENOMEM: every element is still there.
 */
int folding_fold(struct folding folding, uint32_t *ids);

#endif
