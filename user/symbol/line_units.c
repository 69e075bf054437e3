// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

#include "base/util.h"
#include "symbol/lines.h"

/*
 * libdw keeps every row it decoded, at some 40 bytes each, until it is closed. Closing costs
 * little, because the sections stay with the Elf.
 */
#define ROWS_MAX (512 << 10)

size_t unit_lower_bound(const struct compile_unit *unit, uint64_t address)
{
	return BISECT(i, unit->nr, unit->places[i].address < address);
}

static int add_unit_place(struct compile_unit *unit, const struct asked_place *place)
{
	struct unit_place *added;
	int ret;

	ret = grow((void **)&unit->places, &unit->room, unit->nr + 1, sizeof(*unit->places));
	if (ret)
		return ret;
	added = &unit->places[unit->nr++];
	added->address = place->address;
	added->index = place->index;
	added->frame = 0;
	return 0;
}

static int compare_unit_places(const void *left, const void *right)
{
	const struct unit_place *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/*
 * Sorts places and removes duplicates: the ranges of a unit may be in any order and, wrongly,
 * overlap.
 */
static void order_places(struct compile_unit *unit)
{
	size_t i, kept = 0;

	if (!unit->nr)
		return;
	qsort(unit->places, unit->nr, sizeof(*unit->places), compare_unit_places);
	for (i = 1; i < unit->nr; i++) {
		if (compare_unit_places(&unit->places[kept], &unit->places[i]))
			unit->places[++kept] = unit->places[i];
	}
	unit->nr = kept + 1;
}

/*
 * Finds the places in this unit by the ranges of its top DIE. Every compiler writes these;
 * .debug_aranges is missing from clang's output, and reading it would cost no less.
 */
static int gather_places(struct line_job *job)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;
	int ret = 0;
	size_t i;

	job->unit.nr = 0;
	while (!ret && (at = dwarf_ranges(&job->unit.die, at, &base, &begin, &end)) > 0) {
		ret = line_job_step(job);
		/* The linker writes 0 in place of a function that it dropped. */
		if (!begin)
			continue;
		i = BISECT(j, job->nr, job->places[j].address < begin);
		for (; !ret && i < job->nr; i++) {
			if (job->places[i].address >= end)
				break;
			ret = add_unit_place(&job->unit, &job->places[i]);
		}
		/*
		 * The overlapping ranges of a hostile file must not make an unlimited number of
		 * places.
		 */
		if (job->unit.nr > 2 * job->nr)
			order_places(&job->unit);
	}
	order_places(&job->unit);
	return ret;
}

/* The row that applies to address; if several are at one address, the last. */
static Dwarf_Line *find_line_row(Dwarf_Lines *rows, size_t nr, uint64_t address)
{
	Dwarf_Line *row;
	Dwarf_Addr at;
	size_t behind;
	bool ended;

	behind = BISECT(i, nr, !dwarf_lineaddr(dwarf_onesrcline(rows, i), &at) && at <= address);
	row = behind ? dwarf_onesrcline(rows, behind - 1) : NULL;
	if (!row || dwarf_lineendsequence(row, &ended) || ended)
		return NULL;
	return row;
}

/* A relative folder, as Debian's builds have it by -ffile-prefix-map, is part of libdw's path. */
static const char *unit_folder(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *folder = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));

	return folder && *folder == '/' ? folder : NULL;
}

/* libdw joins a file with its folder, but that with the unit's only if the file is right in it. */
const char *line_file(struct line_job *job, const char *path)
{
	const char *folder = job->unit.folder;
	char whole[STRING_SET_LONGEST + 1];

	if (folder && *path != '/' &&
	    (size_t)snprintf(whole, sizeof(whole), "%s/%s", folder, path) < sizeof(whole))
		path = whole;
	return string_set_add(&job->lines->strings, path);
}

static int set_line(struct line_job *job, size_t index, Dwarf_Line *row)
{
	struct source_line *line = &job->lines->lines[index];
	const char *file = dwarf_linesrc(row, NULL, NULL);
	int number;

	if (!file)
		return 0;
	line->file = line_file(job, file);
	if (!line->file)
		return -ENOMEM;
	if (!dwarf_lineno(row, &number) && number > 0)
		line->line = (uint32_t)number;
	dwarf_linediscriminator(row, &line->discriminator);
	return 0;
}

static bool is_swapped(Elf *elf)
{
	const char *ident = elf_getident(elf, NULL);

	return ident && ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB :
										       ELFDATA2MSB);
}

/* The size of the unit's line program in bytes, as it claims. */
static uint64_t program_size(struct line_job *job)
{
	const Elf_Data *data = job->line_programs;
	bool swapped = is_swapped(job->image->elf);
	Dwarf_Attribute attribute;
	Dwarf_Word at;
	uint32_t size;
	uint64_t wide;

	if (!data || !data->d_buf ||
	    dwarf_formudata(dwarf_attr(&job->unit.die, DW_AT_stmt_list, &attribute), &at) ||
	    at > data->d_size || data->d_size - at < sizeof(size) + sizeof(wide))
		return 0;
	memcpy(&size, (const char *)data->d_buf + at, sizeof(size));
	memcpy(&wide, (const char *)data->d_buf + at + sizeof(size), sizeof(wide));
	if (size == UINT32_MAX)
		return swapped ? __builtin_bswap64(wide) : wide;
	return swapped ? __builtin_bswap32(size) : size;
}

/* libdw keeps the names of files as it keeps rows. */
static size_t count_files(struct line_job *job)
{
	Dwarf_Files *files;
	size_t nr;

	return dwarf_getsrcfiles(&job->unit.die, &files, &nr) ? 0 : nr;
}

static int resolve_rows(struct line_job *job)
{
	const struct compile_unit *unit = &job->unit;
	Dwarf_Lines *rows;
	Dwarf_Line *row;
	size_t nr, i;
	int ret = 0;

	if (program_size(job) > LINE_PROGRAM_MAX)
		return error_set(&job->lines->why, -E2BIG,
				 "debug information with a line table of %llu bytes",
				 (unsigned long long)program_size(job));
	if (dwarf_getsrclines(&job->unit.die, &rows, &nr))
		return 0;
	job->rows += nr + count_files(job);
	for (i = 0; !ret && i < unit->nr; i++) {
		row = find_line_row(rows, nr, unit->places[i].address);
		if (row)
			ret = set_line(job, unit->places[i].index, row);
	}
	return ret;
}

static int resolve_unit(struct line_job *job)
{
	int ret;

	ret = gather_places(job);
	if (ret || !job->unit.nr)
		return ret;
	job->unit.folder = unit_folder(&job->unit.die);
	ret = resolve_rows(job);
	if (!ret)
		ret = line_functions_resolve(job);
	if (!ret && job->rows > ROWS_MAX)
		ret = line_job_reopen(job);
	return ret;
}

static bool is_code_unit(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit ||
	       tag == DW_TAG_partial_unit;
}

int line_units_resolve(struct line_job *job)
{
	Dwarf_Off at = 0, next;
	size_t header;
	int ret = 0;

	job->nr_units = 0;
	while (!ret && !dwarf_next_unit(job->dwarf, at, &next, &header, NULL, NULL, NULL, NULL,
					NULL, NULL)) {
		if (next <= at)
			break;
		if (++job->nr_units > LINE_UNITS_MAX)
			return error_set(&job->lines->why, -E2BIG,
					 "debug information of more than %d units", LINE_UNITS_MAX);
		ret = line_job_step(job);
		if (ret)
			return ret;
		if (dwarf_offdie(job->dwarf, at + header, &job->unit.die) &&
		    is_code_unit(&job->unit.die))
			ret = resolve_unit(job);
		at = next;
	}
	return ret;
}
