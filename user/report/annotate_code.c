// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The rows: instructions, and which ticks belong to which. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "elf/elf_image.h"
#include "report/annotate_steps.h"
#include "symbol/object_file.h"

/* Bytes shown behind what was hit in text without a symbol, whose functions have no known end. */
#define AFTER_HIT 64

static int add_row(struct annotation *annotation, const struct annotation_row *row)
{
	void *array = annotation->rows;
	int ret;

	ret = grow(&array, &annotation->memory->rows_room, annotation->nr_rows + 1, sizeof(*row));
	if (ret)
		return ret;
	annotation->rows = array;
	annotation->rows[annotation->nr_rows] = *row;
	annotation->rows[annotation->nr_rows].first = annotation->nr_rows;
	annotation->rows[annotation->nr_rows].shared = 1;
	annotation->rows[annotation->nr_rows].line = ANNOTATION_NONE;
	annotation->rows[annotation->nr_rows].function = annotation->name;
	annotation->nr_rows++;
	return 0;
}

static int read_bytes(struct annotating *work, struct code *result)
{
	const struct annotation *annotation = work->annotation;
	struct error *why = &work->no_code;
	uint64_t wanted = annotation->size + (work->from_hits ? AFTER_HIT : 0);
	const void *vdso;
	size_t size;

	if (annotation->size > CODE_MAX)
		return error_set(why, -E2BIG, "%" PRIu64 " bytes: too large for a function",
				 annotation->size);
	if (annotated_object(work)->kind == PROFILE_KERNEL)
		return code_read_kcore(work->request->kcore ? work->request->kcore : "/proc/kcore",
				       annotation->offset, wanted, result, why);
	if (work->fd >= 0)
		return code_read_file(work->fd, annotation->offset, wanted, result, why);
	vdso = vdso_image(&size);
	if (!vdso)
		return error_set(why, -ENOENT, "[vdso]: this process has none");
	return code_read_memory(vdso, size, annotation->offset, wanted, result, why);
}

/* The offset of an address in the object; for the kernel they are equal. */
static bool offset_of(const struct profile_object *object, uint64_t address, uint64_t *result)
{
	size_t i;

	*result = address;
	if (object->kind != PROFILE_FILE)
		return true;
	for (i = 0; i < object->nr_text; i++) {
		if (address - object->text[i].address < object->text[i].size) {
			*result = address - object->text[i].address + object->text[i].offset;
			return true;
		}
	}
	return false;
}

/* Names where a jump or call out of the function leads: "name" or "name+0x10". */
static int name_target(struct annotating *work, uint64_t offset, const char **result)
{
	const struct symbol *symbol;
	char *text;
	int length;

	symbol = work->symbols ? symbol_table_find(work->symbols, offset) : NULL;
	if (!symbol)
		return 0;
	if (symbol->offset == offset)
		length = asprintf(&text, "%s", symbol->name);
	else
		length = asprintf(&text, "%s+0x%" PRIx64, symbol->name, offset - symbol->offset);
	if (length < 0)
		return -ENOMEM;
	*result = string_set_add(&work->annotation->memory->strings, text);
	free(text);
	return *result ? 0 : -ENOMEM;
}

/* jump holds the target's offset until all rows have been made. */
static int find_target(struct annotating *work, const struct instruction *instruction,
		       struct annotation_row *row)
{
	const struct annotation *annotation = work->annotation;
	uint64_t offset;

	row->jump = ANNOTATION_NONE;
	if (!instruction->has_target ||
	    !offset_of(annotated_object(work), instruction->target, &offset))
		return 0;
	if (instruction->is_jump && offset - annotation->offset < annotation->size) {
		row->jump = offset - annotation->offset;
		return 0;
	}
	return name_target(work, offset, &row->target);
}

static uint64_t address_of(const struct annotating *work, uint64_t offset)
{
	const struct report_row row = { .object = work->annotation->object, .offset = offset };

	return row_address(work->profile, &row);
}

static int add_instruction(struct annotating *work, struct disasm *disasm, const struct code *code,
			   size_t *at)
{
	struct annotation *annotation = work->annotation;
	struct annotation_row row = { .offset = annotation->offset + *at,
				      .bytes = code->bytes + *at };
	struct instruction instruction;
	int ret;

	row.address = address_of(work, row.offset);
	ret = disasm_next(disasm, row.bytes, code->size - *at, row.address, &instruction);
	if (ret)
		return ret;
	row.size = instruction.size;
	row.text = string_set_add(&annotation->memory->strings, instruction.text);
	if (!row.text)
		return -ENOMEM;
	ret = find_target(work, &instruction, &row);
	*at += row.size;
	return ret ? ret : add_row(annotation, &row);
}

static int compare_offset(const void *key, const void *element)
{
	uint64_t offset = *(const uint64_t *)key;
	const struct annotation_row *row = element;

	return offset < row->offset ? -1 : offset > row->offset;
}

/* Converts targets to rows; a target in the middle of an instruction has no row. */
static void find_rows_of_jumps(struct annotation *annotation)
{
	const struct annotation_row *found;
	uint64_t offset;
	size_t i;

	for (i = 0; i < annotation->nr_rows; i++) {
		if (annotation->rows[i].jump == ANNOTATION_NONE)
			continue;
		offset = annotation->offset + annotation->rows[i].jump;
		found = bsearch(&offset, annotation->rows, annotation->nr_rows, sizeof(*found),
				compare_offset);
		annotation->rows[i].jump = found ? (size_t)(found - annotation->rows) :
						   ANNOTATION_NONE;
	}
}

/*
 * Where to go on in text without a symbol: behind AFTER_HIT bytes that were not hit it is the next
 * hit, because what is between may be no code. *bin, which ascends, is the first one not before
 * `at`.
 */
static size_t next_hit(const struct annotating *work, size_t at, size_t *bin)
{
	const struct report_row *bins = work->bins.rows;
	uint64_t offset = work->annotation->offset + at, last;

	while (*bin < work->bins.nr && bins[*bin].offset < offset)
		++*bin;
	if (!*bin || *bin == work->bins.nr)
		return at;
	last = bins[*bin - 1].offset + bins[*bin - 1].size;
	if (offset < last + AFTER_HIT || bins[*bin].offset - offset < AFTER_HIT)
		return at;
	return bins[*bin].offset - work->annotation->offset;
}

static int disassemble(struct annotating *work, const struct code *code)
{
	struct disasm *disasm;
	size_t at = 0, bin = 0;
	int ret;

	ret = disasm_open(code->machine, work->request->syntax, &disasm, &work->no_code);
	if (ret)
		return ret;
	while (!ret && at < code->size) {
		ret = add_instruction(work, disasm, code, &at);
		if (work->from_hits)
			at = next_hit(work, at, &bin);
	}
	disasm_close(disasm);
	find_rows_of_jumps(work->annotation);
	return ret;
}

/* Without code a row is a bin, and the user is told where the code is, or how to say it. */
static int note_no_code(struct annotating *work)
{
	const struct profile_object *object = annotated_object(work);
	char root[64];

	if (work->fd >= 0 || object->kind != PROFILE_FILE || !work->request->look_in_roots)
		return annotation_note(work->annotation, "no instructions, a row is a bin: %s",
				       work->no_code.text);
	if (!object_file_find_root(object, root, sizeof(root)))
		return annotation_note(work->annotation,
				       "no instructions, a row is a bin: %s; if a copy is below "
				       "a folder, --symfs DIR finds it there",
				       work->no_code.text);
	return annotation_note(work->annotation,
			       "no instructions, a row is a bin: %s; --symfs %s has it",
			       work->no_code.text, root);
}

int annotate_read_code(struct annotating *work, struct error *err)
{
	struct code code = { 0 };
	int ret = 0;

	if (!*work->no_code.text)
		ret = read_bytes(work, &code);
	work->annotation->memory->code = code.bytes;
	if (!ret && code.bytes)
		ret = disassemble(work, &code);
	if (!ret && *work->no_code.text)
		ret = -ENOENT;
	if (!ret)
		return 0;
	if (ret != -ENOMEM)
		ret = note_no_code(work);
	return ret ? error_errno(err, ret, "annotate") : 0;
}

/* --- ticks --------------------------------------------------------------------------------------- */

/* The first row that begins at or behind the offset. */
static size_t row_from(const struct annotation *annotation, uint64_t offset)
{
	return BISECT(i, annotation->nr_rows, annotation->rows[i].offset < offset);
}

/*
 * The rows [*first, *end) that a bin's ticks may belong to: those that begin in it. There is none
 * if the bytes are not code after all, or if a file says so; then it is the row in which the bin
 * begins.
 */
static void rows_of_bin(const struct annotation *annotation, const struct report_row *bin,
			size_t *first, size_t *end)
{
	*first = row_from(annotation, bin->offset);
	*end = row_from(annotation, bin->offset + bin->size);
	if (*end > *first)
		return;
	if (*first)
		--*first;
	*end = *first + 1;
}

/* Until all bins are known, `first` links each row that shares ticks to the one before it. */
static void count_bins(struct annotating *work)
{
	struct annotation_row *rows = work->annotation->rows;
	const struct report_row *bin;
	size_t first, end, i;

	for (i = 0; i < work->bins.nr; i++) {
		bin = &work->bins.rows[i];
		rows_of_bin(work->annotation, bin, &first, &end);
		rows[first].ticks += bin->ticks;
		while (--end > first)
			rows[end].first = end - 1;
	}
}

static void gather_shared(struct annotation *annotation)
{
	struct annotation_row *row, *head;
	size_t i;

	for (i = 0; i < annotation->nr_rows; i++) {
		row = &annotation->rows[i];
		if (row->first == i)
			continue;
		row->first = annotation->rows[i - 1].first;
		head = &annotation->rows[row->first];
		head->ticks += row->ticks;
		head->shared++;
		row->ticks = 0;
	}
	for (i = 0; i < annotation->nr_rows; i++)
		annotation->rows[i].shared = annotation->rows[annotation->rows[i].first].shared;
}

static int rows_from_bins(struct annotating *work)
{
	const struct report_row *bin;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < work->bins.nr; i++) {
		bin = &work->bins.rows[i];
		ret = add_row(work->annotation,
			      &(struct annotation_row){ .offset = bin->offset,
							.address = row_address(work->profile, bin),
							.size = bin->size,
							.ticks = bin->ticks,
							.jump = ANNOTATION_NONE });
	}
	return ret;
}

static int note_coarse(struct annotation *annotation)
{
	size_t i;

	for (i = 0; i < annotation->nr_rows; i++)
		if (annotation->rows[i].shared > 1)
			return annotation_note(annotation,
					       "bins of %" PRIu64
					       " bytes: of instructions in one bracket it is "
					       "not known which had the ticks",
					       annotation->bytes_per_bin);
	return 0;
}

int annotate_count(struct annotating *work, struct error *err)
{
	int ret;

	if (!work->annotation->nr_rows) {
		ret = rows_from_bins(work);
	} else {
		count_bins(work);
		gather_shared(work->annotation);
		ret = note_coarse(work->annotation);
	}
	return ret ? error_errno(err, ret, "annotate") : 0;
}
