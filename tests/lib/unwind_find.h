/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef UNWIND_FIND_H
#define UNWIND_FIND_H

#include "base/util.h"
#include "unwind/unwind_table.h"

/* As the programs in the kernel search. Never NULL: the rule of an unknown place is UNWIND_NONE. */
static inline const struct unwind_rule *unwind_find(const struct unwind_table *table,
						    uint64_t offset)
{
	static const struct unwind_rule none = { .cfa = UNWIND_NONE };
	uint64_t granule = unwind_granule(offset) - table->first_granule;
	size_t first, before;

	if (granule >= table->granule_count)
		return &none;
	first = table->index[granule];
	before = BISECT(i, table->index[granule + 1] - first,
			unwind_row_begins(table->rows[first + i], offset));
	return &table->rules[unwind_row_rule(table->rows[first + before - 1])];
}

#endif
