/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HEAP_H
#define BPFPROFIL_HEAP_H

#include <stddef.h>

/*
 * A binary heap in an array. `above` is a condition on pointers x and y to elements: *x belongs
 * above *y. For example HEAP_PUSH(list, nr, value, x, y, x->start < y->start).
 */
#define HEAP_PUSH(heap, nr, value, x, y, above)                                                    \
	do {                                                                                       \
		const typeof(*(heap)) heap_value = (value), *x = &heap_value, *y;                  \
		size_t heap_hole = (nr)++;                                                         \
		for (; heap_hole; heap_hole = (heap_hole - 1) / 2) {                               \
			y = &(heap)[(heap_hole - 1) / 2];                                          \
			if (!(above))                                                              \
				break;                                                             \
			(heap)[heap_hole] = *y;                                                    \
		}                                                                                  \
		(heap)[heap_hole] = heap_value;                                                    \
	} while (0)

/* Moves the element at index `at` down to its place. */
#define HEAP_DOWN(heap, nr, at, x, y, above)                                                       \
	do {                                                                                       \
		const typeof(*(heap)) heap_moved = (heap)[at], *x, *y;                             \
		size_t heap_hole = (at), heap_child;                                               \
		while ((heap_child = 2 * heap_hole + 1) < (nr)) {                                  \
			x = &(heap)[heap_child + 1];                                               \
			y = &(heap)[heap_child];                                                   \
			heap_child += heap_child + 1 < (nr) && (above);                            \
			x = &(heap)[heap_child];                                                   \
			y = &heap_moved;                                                           \
			if (!(above))                                                              \
				break;                                                             \
			(heap)[heap_hole] = *x;                                                    \
			heap_hole = heap_child;                                                    \
		}                                                                                  \
		(heap)[heap_hole] = heap_moved;                                                    \
	} while (0)

#endif
