// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "test_unwind_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/cfi.h"

uint64_t unwind_row_offset(const struct unwind_table *table, size_t granule, size_t row)
{
	return ((table->first_granule + granule) << UNWIND_GRANULE_SHIFT) +
	       (table->rows[row] >> UNWIND_RULE_BITS);
}

void unwind_check(const struct unwind_table *table)
{
	uint64_t offset, before = 0;
	size_t granule, row;

	cr_assert_geq(table->rule_count, 1);
	cr_assert_leq(table->rule_count, UNWIND_RULES_MAX);
	cr_assert_leq(table->row_count, UNWIND_ROWS_MAX);
	cr_assert_eq(table->rules[0].cfa, UNWIND_NONE);
	cr_assert_eq(!table->row_count, !table->granule_count);
	if (!table->row_count)
		return;
	cr_assert_eq(table->index[0], 0);
	cr_assert_eq(table->rows[0] >> UNWIND_RULE_BITS, 0, "the first granule has a row");
	cr_assert_eq(table->index[table->granule_count], table->row_count);
	for (granule = 0; granule < table->granule_count; granule++) {
		cr_assert_leq(table->index[granule], table->index[granule + 1]);
		for (row = table->index[granule]; row < table->index[granule + 1]; row++) {
			offset = unwind_row_offset(table, granule, row);
			cr_assert(!row || offset > before);
			cr_assert_eq(unwind_granule(offset), table->first_granule + granule);
			cr_assert_lt(unwind_row_rule(table->rows[row]), table->rule_count);
			cr_assert_eq(unwind_find(table, offset),
				     &table->rules[unwind_row_rule(table->rows[row])]);
			if (row)
				cr_assert_eq(unwind_find(table, offset - 1),
					     &table->rules[unwind_row_rule(table->rows[row - 1])]);
			before = offset;
		}
	}
}

void unwind_rule_text(const struct unwind_rule *rule, char *text, size_t size)
{
	static const char *const formats[] = {
		[UNWIND_NONE] = "none",
		[UNWIND_SP] = "sp%+d",
		[UNWIND_FP] = "bp%+d",
		[UNWIND_PLT] = "plt%+d@%d",
		[UNWIND_DEREF_FP] = "[bp%+d]+%d",
		[UNWIND_DEREF_SP] = "[sp%+d]+%d",
		[UNWIND_SIGNAL] = "signal",
		[UNWIND_END] = "end",
		[UNWIND_REGISTER] = "register",
	};
	static const char *const fp_formats[] = {
		[UNWIND_FP_SAME] = "",
		[UNWIND_FP_CFA] = " fp[cfa%+d]",
		[UNWIND_FP_AT_FP] = " fp[bp%+d]",
		[UNWIND_FP_LOST] = " fp?",
	};
	static const char *const calls[] = { "", " go", " frameless" };
	int length;

	cr_assert_leq(rule->cfa, UNWIND_REGISTER);
	cr_assert_leq(rule->fp, UNWIND_FP_LOST);
	cr_assert_leq(rule->ra, UNWIND_RA_SCRATCH);
	length = snprintf(text, size, formats[rule->cfa], rule->cfa_offset, rule->post);
	length += snprintf(text + length, size - (size_t)length, fp_formats[rule->fp],
			   rule->fp_offset);
	cr_assert_leq(rule->call, UNWIND_CALL_FRAMELESS);
	if (cfi_machine == &cfi_x86_64 && rule->ra)
		length += snprintf(text + length, size - (size_t)length, " ra in di");
	else if (cfi_machine == &cfi_aarch64 && !rule->ra && rule->cfa && rule->cfa < UNWIND_SIGNAL)
		length += snprintf(text + length, size - (size_t)length, " ra[cfa%+d]",
				   rule->fp_offset + 8);
	snprintf(text + length, size - (size_t)length, "%s", calls[rule->call]);
}

struct sheet eh, debug;
struct unwind_go go;

static struct {
	uint64_t at;
	struct cfi_bytes bytes;
} texts[8];
static size_t nr_texts;
struct unwind_table unwound;

void unwind_begin(void)
{
	eh = (struct sheet){ .is_eh = true, .encoding = PCREL_4 };
	debug = (struct sheet){ .encoding = DW_EH_PE_absptr };
	go = (struct unwind_go){ 0 };
	nr_texts = 0;
	cfi_machine = &cfi_x86_64;
}

void unwind_end(void)
{
	free(eh.bytes);
	free(debug.bytes);
	unwind_table_free(&unwound);
}

void put_bytes(struct sheet *sheet, const void *bytes, size_t size)
{
	if (sheet->size + size > sheet->room) {
		sheet->room = 2 * (sheet->size + size);
		sheet->bytes = realloc(sheet->bytes, sheet->room);
	}
	if (size)
		memcpy(sheet->bytes + sheet->size, bytes, size);
	sheet->size += size;
}

void put(struct sheet *sheet, uint64_t value, size_t size)
{
	put_bytes(sheet, &value, size);
}

static size_t begin_entry(struct sheet *sheet)
{
	if (sheet->wide)
		put(sheet, 0xffffffff, 4);
	put(sheet, 0, sheet->wide ? 8 : 4);
	return sheet->size;
}

void end_entry(struct sheet *sheet, size_t begin)
{
	uint64_t length = sheet->size - begin;
	size_t bytes = sheet->wide ? 8 : 4;

	memcpy(sheet->bytes + begin - bytes, &length, bytes);
}

static size_t id_bytes(const struct sheet *sheet)
{
	return sheet->wide && !sheet->is_eh ? 8 : 4;
}

size_t begin_cie(struct sheet *sheet, unsigned int version, const char *augmentation)
{
	size_t begin;

	sheet->cie = sheet->size;
	begin = begin_entry(sheet);
	put(sheet, sheet->is_eh ? 0 : UINT64_MAX, id_bytes(sheet));
	put(sheet, version, 1);
	put_bytes(sheet, augmentation, strlen(augmentation) + 1);
	return begin;
}

void put_factors(struct sheet *sheet)
{
	put(sheet, 1, 1);
	put(sheet, 0x78, 1); /* -8 */
	put(sheet, cfi_machine == &cfi_aarch64 ? 30 : 16, 1);
}

void put_cie(struct sheet *sheet, struct cfi_bytes program)
{
	size_t begin = begin_cie(sheet, 1, sheet->is_eh ? "zR" : "");

	put_factors(sheet);
	if (sheet->is_eh) {
		put(sheet, 1, 1);
		put(sheet, sheet->encoding, 1);
	}
	put_bytes(sheet, program.bytes, program.size);
	end_entry(sheet, begin);
}

void put_address(struct sheet *sheet, uint64_t address)
{
	static const size_t sizes[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8 };

	if ((sheet->encoding & 0x70) == DW_EH_PE_pcrel)
		address -= CFI_FILE_EH_ADDRESS + sheet->size;
	put(sheet, address, sizes[sheet->encoding & 15]);
}

void put_function(struct sheet *sheet, uint64_t address, uint64_t size, struct cfi_bytes program)
{
	uint8_t encoding = sheet->encoding;
	size_t begin = begin_entry(sheet);

	put(sheet, sheet->is_eh ? sheet->size - sheet->cie : sheet->cie, id_bytes(sheet));
	put_address(sheet, address);
	sheet->encoding &= 15;
	put_address(sheet, size);
	sheet->encoding = encoding;
	if (sheet->is_eh)
		put(sheet, 0, 1);
	put_bytes(sheet, program.bytes, program.size);
	end_entry(sheet, begin);
}

void put_text(uint64_t at, struct cfi_bytes bytes)
{
	cr_assert_lt(nr_texts, sizeof(texts) / sizeof(texts[0]));
	cr_assert_leq(at + bytes.size, CFI_FILE_TEXT_BYTES);
	texts[nr_texts].at = at;
	texts[nr_texts++].bytes = bytes;
}

void read_sheets(uint64_t bytes_max)
{
	struct elf_image image;
	struct error err = { 0 };
	size_t size, i;
	uint8_t *file = cfi_file((struct cfi_bytes){ eh.bytes, eh.size },
				 (struct cfi_bytes){ debug.bytes, debug.size }, &size);

	for (i = 0; i < nr_texts; i++)
		memcpy(file + CFI_FILE_TEXT + texts[i].at, texts[i].bytes.bytes,
		       texts[i].bytes.size);
	unwind_table_free(&unwound);
	cr_assert_eq(elf_image_open_memory(file, size, &image, &err), 0, "%s", err.text);
	cr_assert_eq(unwind_table_read(&image, bytes_max, &go, &unwound, &err), 0, "%s", err.text);
	elf_image_close(&image);
	free(file);
	unwind_check(&unwound);
}

const char *rows_text(void)
{
	static char text[8192];
	size_t granule, row, length = 0;
	char rule[64];

	text[0] = '\0';
	for (granule = 0; granule < unwound.granule_count; granule++)
		for (row = unwound.index[granule]; row < unwound.index[granule + 1]; row++) {
			unwind_rule_text(&unwound.rules[unwind_row_rule(unwound.rows[row])], rule,
					 sizeof(rule));
			length += (size_t)snprintf(
				text + length, sizeof(text) - length, "%s%llx %s%s",
				row ? ", " : "",
				(unsigned long long)unwind_row_offset(&unwound, granule, row) -
					CFI_FILE_TEXT,
				unwound.rows[row] & UNWIND_ROW_EARLY ? "early " : "", rule);
			cr_assert_lt(length, sizeof(text));
		}
	return text;
}

void check_rows(const char *want)
{
	read_sheets(UINT64_MAX);
	cr_expect_str_eq(rows_text(), want);
}
