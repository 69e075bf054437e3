// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/bin_text.h"

#include <inttypes.h>

/*
 * BIN LOW HIGH. If another region takes some pcs of a bin, LOW and HIGH are the ends of the range
 * around this pc.
 */
static void print_bin(FILE *out, const struct call_region *region, uint64_t pc)
{
	uint64_t bin = call_region_bin(region, pc);
	uint64_t low = region->offset + (uint64_t)dialect_first(&region->factor, bin), high;

	if (__builtin_add_overflow(region->offset, dialect_last(&region->factor, bin), &high) ||
	    high > region->last)
		high = region->last;
	if (low < region->start)
		low = region->start;
	fprintf(out, "%" PRIu64 " 0x%" PRIx64 " 0x%" PRIx64 "\n", bin, low, high);
}

/* Why no counter of profil() takes the pc; for sprofil() there is one word for all reasons. */
static const char *nobody(const struct region_call *call, const struct region_table *table,
			  uint64_t pc)
{
	if (call->sprofil)
		return "outside";
	if (table->stops)
		return "off";
	return pc < call->entries[0].offset ? "below" : "beyond";
}

void bin_text_print(FILE *out, const struct region_call *call, const struct region_table *table,
		    uint64_t pc)
{
	const struct call_region *region = call_table_find(&table->table, table->lines, pc);

	fprintf(out, "0x%" PRIx64 " ", pc);
	if (region->kind == CALL_OVERFLOW) {
		fputs("overflow\n", out);
	} else if (region->kind == CALL_NOBODY) {
		fprintf(out, "%s\n", nobody(call, table, pc));
	} else {
		if (call->sprofil)
			fprintf(out, "%" PRIu32 " ", region->number);
		print_bin(out, region, pc);
	}
}
