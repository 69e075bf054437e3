// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Any bytes as call-frame information: there is a table, its rows are in order and have a rule, and
 * nothing takes longer than its bytes allow. The first byte says which section the others are.
 */
#include <stdlib.h>

#include "bytes.h"
#include "cfi_file.h"
#include "unwind_find.h"

enum { IS_DEBUG = 1, IS_BOTH = 2, IS_LIMITED = 4 };

static void check_row(const struct unwind_table *table, size_t row, uint64_t offset)
{
	uint32_t number = unwind_row_rule(table->rows[row]);

	fuzz_check(number < table->rule_count, "a row has a rule");
	fuzz_check(unwind_find(table, offset) == &table->rules[number], "a row is found");
	if (row)
		fuzz_check(unwind_find(table, offset - 1) ==
				   &table->rules[unwind_row_rule(table->rows[row - 1])],
			   "a row holds up to the next");
}

static void check_table(const struct unwind_table *table)
{
	uint64_t offset, before = 0;
	size_t granule, row;

	fuzz_check(!table->row_count == !table->granule_count, "rows are in granules");
	for (granule = 0; granule < table->granule_count; granule++)
		for (row = table->index[granule]; row < table->index[granule + 1]; row++) {
			offset = ((table->first_granule + granule) << UNWIND_GRANULE_SHIFT) +
				 (table->rows[row] >> UNWIND_RULE_BITS);
			fuzz_check(!row || offset > before, "rows are in order");
			check_row(table, row, offset);
			before = offset;
		}
	fuzz_check(!table->granule_count || table->index[granule] == table->row_count,
		   "the index has all rows");
}

static void check_rules(const struct unwind_table *table)
{
	size_t i;

	for (i = 0; i < table->rule_count; i++) {
		const struct unwind_rule *rule = &table->rules[i];

		fuzz_check(rule->ra <= UNWIND_RA_SCRATCH && rule->cfa <= UNWIND_REGISTER &&
				   rule->fp <= UNWIND_FP_LOST &&
				   rule->call <= UNWIND_CALL_FRAMELESS,
			   "a rule is one of those that there are");
		fuzz_check(rule->cfa != UNWIND_PLT || (rule->post >= 0 && rule->post < 16),
			   "a PLT entry has 16 bytes");
		fuzz_check(!i == (rule->cfa == UNWIND_NONE), "rule 0 is none, and no other one");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_bytes bytes = { data + 1, size - 1 }, nothing = { NULL, 0 };
	/* A part of the text, so that functions of .debug_frame are in it and out of it. */
	const struct unwind_go go = { CFI_FILE_TEXT, CFI_FILE_TEXT_BYTES };
	struct error err = { "", "" };
	struct unwind_table table;
	struct elf_image image;
	size_t file_size;
	uint8_t *file;

	if (!size)
		return 0;
	file = cfi_file(*data & IS_DEBUG ? nothing : bytes,
			*data & (IS_DEBUG | IS_BOTH) ? bytes : nothing, &file_size);
	fuzz_check(!elf_image_open_memory(file, file_size, &image, &err), err.text);
	fuzz_check(!unwind_table_read(&image, *data & IS_LIMITED ? size / 2 : UINT64_MAX, &go,
				      &table, &err),
		   err.text);
	check_table(&table);
	check_rules(&table);
	unwind_table_free(&table);
	elf_image_close(&image);
	free(file);
	return 0;
}
