// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The rows of an annotation: instructions and their ticks. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "reader/reader.h"
#include "elf/elf_image.h"
#include "report/annotate_steps.h"
#include "report/source_file.h"
#include "naming/object_file.h"

/* The source beside the instructions. */

DEFINE_COMPARE_AS(compare_lines, struct annotation_line,
		  strcmp(a->file, b->file) ?: compare_u64(a->line, b->line))

/* Copies the file and function of each row, and makes a line for each row that has one. */
static int copy_lines(struct annotation *annotation, const struct source_lines *lines)
{
	struct string_set *strings = &annotation->strings;
	const struct source_line *line;
	struct annotation_row *row;
	size_t i;

	for (i = 0; i < annotation->nr_rows; i++) {
		line = source_lines_at(lines, i);
		row = &annotation->rows[i];
		if (line->function) {
			row->function = string_set_add(strings, line->function);
			if (!row->function)
				return -ENOMEM;
		}
		if (!line->file)
			continue;
		annotation->lines[annotation->nr_lines].file = string_set_add(strings, line->file);
		if (!annotation->lines[annotation->nr_lines].file)
			return -ENOMEM;
		annotation->lines[annotation->nr_lines++].line = line->line;
	}
	return 0;
}

static void find_rows_lines(struct annotation *annotation, const struct source_lines *lines)
{
	const struct annotation_line *found;
	const struct source_line *line;
	size_t i;

	for (i = 0; i < annotation->nr_rows; i++) {
		line = source_lines_at(lines, i);
		if (!line->file)
			continue;
		found = bsearch(&(struct annotation_line){ .file = line->file, .line = line->line },
				annotation->lines, annotation->nr_lines, sizeof(*found),
				compare_lines);
		annotation->rows[i].line = (size_t)(found - annotation->lines);
	}
}

/* If rows of several lines share ticks, count these for no line, because their line is unknown. */
static void count_lines(struct annotation *annotation)
{
	const struct annotation_row *rows = annotation->rows;
	size_t i, next;
	bool same;

	for (i = 0; i < annotation->nr_rows; i = next) {
		same = true;
		for (next = i + 1; next < annotation->nr_rows && rows[next].first == i; next++)
			same = same && rows[next].line == rows[i].line;
		if (same && rows[i].line != ANNOTATION_NONE)
			annotation->lines[rows[i].line].ticks += rows[i].ticks;
	}
}

/* --- source text ---------------------------------------------------------------------------- */

/* Limits memory: debug information may name a different large file for each instruction. */
#define SOURCES_MAX (256UL << 20)

struct missing {
	size_t read; /* bytes read so far */
	const char *unread; /* a file beyond the limit */
	const char *first;
	size_t nr;
	const char *refused; /* a file that the object's owner may not read */
	const char *newer; /* a file that changed after the object was built */
};

/* Reads the text of lines[*at ...] that are in one file. */
static int read_file(struct annotating *work, const struct stat *built, size_t *at,
		     struct missing *missing)
{
	const struct source_search search = {
		.root = work->root,
		/* Openers set such a root for a process with its own root directory. */
		.contained = !strncmp(work->root, "/proc/", strlen("/proc/")),
		.owner = built->st_uid,
		.folder = work->request->source,
	};
	struct annotation *annotation = work->annotation;
	const char *path = annotation->lines[*at].file, *text;
	struct source_file file = { 0 };
	struct annotation_line *line;
	int ret = missing->read > SOURCES_MAX ? -E2BIG : source_file_read(path, &search, &file);

	if (!ret)
		missing->read += file.bytes;
	if (ret == -E2BIG)
		missing->unread = path;
	else if (ret == -EACCES && !geteuid())
		missing->refused = path;
	else if (ret && ret != -ENOMEM && !missing->nr++)
		missing->first = path;
	if (!ret && file.changed > built->st_mtime)
		missing->newer = path;
	for (; ret != -ENOMEM && *at < annotation->nr_lines; ++*at) {
		line = &annotation->lines[*at];
		if (strcmp(line->file, path) != 0)
			break;
		text = ret ? NULL : source_file_line(&file, line->line);
		if (!text)
			continue;
		line->text = string_set_add(&annotation->strings, text);
		if (!line->text)
			ret = -ENOMEM;
	}
	source_file_free(&file);
	return ret == -ENOMEM ? ret : 0;
}

static int note_missing(struct annotation *annotation, const struct missing *missing)
{
	int ret = 0;

	if (missing->nr == 1)
		ret = annotation_note(annotation, "no source file %s; --source DIR looks there",
				      missing->first);
	else if (missing->nr)
		ret = annotation_note(annotation,
				      "no source file %s, nor %zu more; --source DIR looks there",
				      missing->first, missing->nr - 1);
	if (!ret && missing->refused)
		ret = annotation_note(annotation,
				      "%s is not shown: who owns the program may not read it",
				      missing->refused);
	if (!ret && missing->unread)
		ret = annotation_note(annotation, "%s is not shown: more than %lu MiB of sources",
				      missing->unread, SOURCES_MAX >> 20);
	if (!ret && missing->newer)
		ret = annotation_note(annotation,
				      "%s was changed after the program was built: its lines may "
				      "be others",
				      missing->newer);
	return ret;
}

static int read_sources(struct annotating *work)
{
	struct missing missing = { 0 };
	struct stat stat;
	size_t at = 0;
	int ret = 0;

	/* Without the owner it is unknown who may read the sources. */
	if (fstat(work->fd, &stat))
		return 0;
	while (!ret && at < work->annotation->nr_lines)
		ret = read_file(work, &stat, &at, &missing);
	return ret ? ret : note_missing(work->annotation, &missing);
}

static int use_lines(struct annotating *work, const struct source_lines *lines)
{
	struct annotation *annotation = work->annotation;
	int ret;

	annotation->lines = calloc(annotation->nr_rows + 1, sizeof(*annotation->lines));
	if (!annotation->lines)
		return -ENOMEM;
	ret = copy_lines(annotation, lines);
	if (ret)
		return ret;
	annotation->nr_lines =
		COMBINE(annotation->lines, annotation->nr_lines, compare_lines, NULL);
	find_rows_lines(annotation, lines);
	count_lines(annotation);
	if (annotation->nr_lines)
		return read_sources(work);
	return annotation_note(annotation,
			       "no source lines of %s: no debug information for this function",
			       annotated_object(work)->path);
}

static int load_lines(struct annotating *work, struct source_lines **result, struct error *why)
{
	const struct annotation *annotation = work->annotation;
	cleanup_free uint64_t *offsets = calloc(annotation->nr_rows + 1, sizeof(*offsets));
	size_t i;

	if (!offsets)
		return error_errno(why, -ENOMEM, "%.256s", annotated_object(work)->path);
	for (i = 0; i < annotation->nr_rows; i++)
		offsets[i] = annotation->rows[i].offset;
	return object_lines_load(
		&(struct reader_file){ work->fd, annotated_object(work)->path, work->root },
		work->request->opener->allowance, offsets, annotation->nr_rows, result, why);
}

int annotate_find_lines(struct annotating *work)
{
	struct source_lines *lines = NULL;
	struct error why = { 0 };
	int ret;

	/* The kernel has code but no file, and thus no lines. */
	if (work->fd < 0)
		return *work->no_code.text ?
			       0 :
			       annotation_note(work->annotation, "no source lines of %s",
					       annotated_object(work)->path);
	ret = load_lines(work, &lines, &why);
	if (!ret)
		ret = use_lines(work, lines);
	else
		ret = annotation_note(work->annotation, "no source lines: %s", why.text);
	source_lines_free(lines);
	return ret;
}

/* Jumps within the function, and the lanes in which they are drawn. */

/* Longer jumps are not drawn: nobody follows an arrow over a hundred screens. */
#define LENGTH_MAX 4096

/* Jumps to one row share a lane: jumps[first .. first + nr), over the rows [top, bottom]. */
struct bundle {
	size_t first;
	size_t nr;
	size_t top;
	size_t bottom;
	uint64_t ticks; /* at and around both ends */
};

static size_t length_of(const struct annotation_jump *jump)
{
	return jump->from < jump->to ? jump->to - jump->from : jump->from - jump->to;
}

DEFINE_COMPARE_2(compare_targets, struct annotation_jump, to, from)

DEFINE_COMPARE_AS(compare_heat, struct bundle,
		  compare_u64(b->ticks, a->ticks) ?: compare_u64(a->first, b->first))

DEFINE_COMPARE_AS(compare_lengths, struct bundle,
		  compare_u64(a->bottom - a->top, b->bottom - b->top) ?:
			  compare_u64(a->first, b->first))

/* Includes the next row, because a tick often falls on the instruction after the slow one. */
static uint64_t ticks_around(const struct annotation *annotation, size_t row)
{
	return annotation->rows[row].ticks +
	       (row + 1 < annotation->nr_rows ? annotation->rows[row + 1].ticks : 0);
}

/* Bundles the jumps from first on that have the same target, without those that are too long. */
static struct bundle make_bundle(const struct annotation *annotation, size_t first)
{
	const struct annotation_jump *jumps = annotation->jumps;
	struct bundle bundle = { .first = first,
				 .top = jumps[first].to,
				 .bottom = jumps[first].to };
	size_t i;

	bundle.ticks = ticks_around(annotation, jumps[first].to);
	for (i = first; i < annotation->nr_jumps && jumps[i].to == jumps[first].to; i++) {
		bundle.nr++;
		if (length_of(&jumps[i]) > LENGTH_MAX)
			continue;
		bundle.ticks += ticks_around(annotation, jumps[i].from);
		bundle.top = jumps[i].from < bundle.top ? jumps[i].from : bundle.top;
		bundle.bottom = jumps[i].from > bundle.bottom ? jumps[i].from : bundle.bottom;
	}
	return bundle;
}

static void draw_bundle(struct annotation *annotation, const struct bundle *bundle,
			unsigned int lane)
{
	struct annotation_cells *cells = annotation->cells;
	struct annotation_jump *jump;
	uint8_t bit = (uint8_t)(1U << lane);
	size_t i;

	for (i = bundle->top; i < bundle->bottom; i++) {
		cells[i].down |= bit;
		cells[i + 1].up |= bit;
	}
	for (i = bundle->first; i < bundle->first + bundle->nr; i++) {
		jump = &annotation->jumps[i];
		if (length_of(jump) > LENGTH_MAX)
			continue;
		cells[jump->from].end |= bit;
		cells[jump->to].end |= bit;
		cells[jump->to].arrives |= bit;
	}
}

/* Chooses the lowest lane that is free on all rows of the bundle. */
static void choose_lane(struct annotation *annotation, const struct bundle *bundle,
			unsigned int *nr_used)
{
	const struct annotation_cells *cells = annotation->cells;
	unsigned int used = 0, lane;
	size_t i;

	for (i = bundle->top; i <= bundle->bottom; i++)
		used |= cells[i].up | cells[i].down | cells[i].end;
	for (lane = 0; used & 1U << lane; lane++)
		;
	if (lane >= annotation->lanes)
		return;
	draw_bundle(annotation, bundle, lane);
	*nr_used = lane >= *nr_used ? lane + 1 : *nr_used;
}

/* Keeps the hottest bundles as long as each row has lanes. Returns their number. */
static size_t choose_bundles(const struct annotation *annotation, struct bundle *bundles, size_t nr,
			     uint8_t *depth)
{
	size_t i, row, kept = 0;
	uint8_t deepest;

	SORT(bundles, nr, compare_heat);
	for (i = 0; i < nr; i++) {
		deepest = 0;
		for (row = bundles[i].top; row <= bundles[i].bottom; row++)
			deepest = depth[row] > deepest ? depth[row] : deepest;
		if (deepest >= annotation->lanes)
			continue;
		for (row = bundles[i].top; row <= bundles[i].bottom; row++)
			depth[row]++;
		bundles[kept++] = bundles[i];
	}
	return kept;
}

/*
 * Assigns lanes to the shortest bundles first, so that an inner loop is drawn inside the outer one.
 */
static void draw_jumps(struct annotation *annotation, struct bundle *bundles, uint8_t *depth)
{
	unsigned int used = 0;
	size_t i, nr = 0;

	SORT(annotation->jumps, annotation->nr_jumps, compare_targets);
	for (i = 0; i < annotation->nr_jumps; i += bundles[nr++].nr)
		bundles[nr] = make_bundle(annotation, i);
	nr = choose_bundles(annotation, bundles, nr, depth);
	SORT(bundles, nr, compare_lengths);
	for (i = 0; i < nr; i++)
		choose_lane(annotation, &bundles[i], &used);
	annotation->lanes = used;
}

static int choose_lanes(struct annotation *annotation, unsigned int lanes)
{
	cleanup_free struct bundle *bundles = calloc(annotation->nr_jumps, sizeof(*bundles));
	cleanup_free uint8_t *depth = calloc(annotation->nr_rows, sizeof(*depth));

	annotation->cells = calloc(annotation->nr_rows, sizeof(*annotation->cells));
	if (!bundles || !depth || !annotation->cells)
		return -ENOMEM;
	annotation->lanes = lanes < ANNOTATION_LANES ? lanes : ANNOTATION_LANES;
	draw_jumps(annotation, bundles, depth);
	return 0;
}

int annotate_find_jumps(struct annotation *annotation, unsigned int lanes)
{
	size_t nr = 0, i;

	for (i = 0; i < annotation->nr_rows; i++)
		nr += annotation->rows[i].jump != ANNOTATION_NONE;
	if (!nr)
		return 0;
	annotation->jumps = calloc(nr, sizeof(*annotation->jumps));
	if (!annotation->jumps)
		return -ENOMEM;
	for (i = 0; i < annotation->nr_rows; i++)
		if (annotation->rows[i].jump != ANNOTATION_NONE)
			annotation->jumps[annotation->nr_jumps++] =
				(struct annotation_jump){ .from = i,
							  .to = annotation->rows[i].jump };
	return choose_lanes(annotation, lanes);
}

/* Bytes to show after a tick in text without a symbol, where the end of a function is unknown. */
#define AFTER_HIT 64

static int add_row(struct annotation *annotation, const struct annotation_row *row)
{
	int ret = GROW(annotation->rows, annotation->rows_room, annotation->nr_rows + 1);

	if (ret)
		return ret;
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
		return reader_code(work->fd, annotation->offset, wanted, result, why);
	vdso = vdso_image(&size);
	if (!vdso)
		return error_set(why, -ENOENT, "[vdso]: this process has none");
	return code_read_memory(vdso, size, annotation->offset, wanted, result, why);
}

/* Converts an address to an offset in the object; for the kernel they are equal. */
static bool offset_of(const struct profile_object *object, uint64_t address, uint64_t *result)
{
	const struct profile_text *text = profile_text_with(object->text, object->nr_text, address);

	*result = text && object->kind == PROFILE_FILE ? address - text->address + text->offset :
							 address;
	return text || object->kind != PROFILE_FILE;
}

DEFINE_COMPARE_AS(compare_offsets, uint64_t, compare_u64(*a, *b))

void annotate_load_symbols(struct annotating *work, uint64_t *offsets, size_t nr)
{
	struct symbol_wanted wanted = { .ranges = calloc(nr + 1, sizeof(*wanted.ranges)) };
	size_t i;

	SORT(offsets, nr, compare_offsets);
	for (i = 0; wanted.ranges && i < nr; i++)
		if ((!i || offsets[i] != offsets[i - 1]) && offsets[i] < UINT64_MAX)
			wanted.ranges[wanted.nr++] =
				(struct symbol_range){ offsets[i], offsets[i] + 1 };
	object_symbols_release(work->request->opener, work->symbols);
	work->symbols = NULL;
	if (wanted.ranges)
		object_symbols_load(annotated_object(work), work->annotation->object,
				    work->request->opener, &wanted, &work->symbols, NULL);
	free(wanted.ranges);
}

/* Names the target of a jump or call out of the function: "name" or "name+0x10". */
static int name_target(struct annotating *work, const struct annotated_target *target)
{
	const char **result = &work->annotation->rows[target->row].target;
	const struct symbol *symbol = symbol_table_find(work->symbols, target->offset);
	cleanup_free char *text = NULL;

	if (!symbol)
		return 0;
	if (symbol->offset != target->offset)
		text = format_text("%s+0x%" PRIx64, symbol->name, target->offset - symbol->offset);
	if (text || symbol->offset == target->offset)
		*result = string_set_add(&work->annotation->strings, text ?: symbol->name);
	return *result ? 0 : -ENOMEM;
}

/*
 * Looks up all targets at once, since each lookup is a request to a reader. The kernel's symbols
 * are loaded already.
 */
static int name_targets(struct annotating *work)
{
	cleanup_free uint64_t *offsets = calloc(work->nr_targets + 1, sizeof(*offsets));
	size_t i;
	int ret = offsets ? 0 : -ENOMEM;

	for (i = 0; offsets && i < work->nr_targets; i++)
		offsets[i] = work->targets[i].offset;
	if (!ret && work->fd >= 0 && work->nr_targets)
		annotate_load_symbols(work, offsets, work->nr_targets);
	for (i = 0; work->symbols && !ret && i < work->nr_targets; i++)
		ret = name_target(work, &work->targets[i]);
	return ret;
}

/* row->jump is an offset until all rows exist. */
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
	return PUSH(work->targets, work->targets_room, work->nr_targets,
		    (struct annotated_target){ annotation->nr_rows, offset });
}

static uint64_t address_of(const struct annotating *work, uint64_t offset)
{
	const struct report_row row = { .object = work->annotation->object, .offset = offset };

	return row_address(work->profile, &row);
}

static int add_instruction(struct annotating *work, const struct code *code, size_t at,
			   const struct instruction *instruction)
{
	struct annotation *annotation = work->annotation;
	struct annotation_row row = { .offset = annotation->offset + at,
				      .bytes = code->bytes + at,
				      .size = instruction->size };
	int ret;

	row.address = address_of(work, row.offset);
	row.text = string_set_add(&annotation->strings, instruction->text);
	if (!row.text)
		return -ENOMEM;
	ret = find_target(work, instruction, &row);
	return ret ? ret : add_row(annotation, &row);
}

static int compare_offset(const void *key, const void *element)
{
	uint64_t offset = *(const uint64_t *)key;
	const struct annotation_row *row = element;

	return compare_u64(offset, row->offset);
}

/* Converts jump offsets to rows. A target in the middle of an instruction has no row. */
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

/* The size of a request if only ticks mark where instructions begin; the longest instruction. */
enum { PART_BYTES = 4096, INSTRUCTION_BYTES = 16 };

/*
 * Returns where to continue in text without a symbol. After AFTER_HIT bytes without ticks that is
 * the next tick, because the gap may not be code. *bin ascends: it is the first bin at or after
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

/*
 * Adds instructions from *at, until the end or until the next tick is far away. The end of a part
 * may cut off instructions, which are left for the next part.
 */
static int add_part(struct annotating *work, const struct code *code, size_t *at, size_t *bin)
{
	const size_t end = work->from_hits ? min_size(*at + PART_BYTES, code->size) : code->size;
	const struct code part = { code->bytes + *at, end - *at, code->machine };
	cleanup_free struct instruction *all = NULL;
	size_t i, nr = 0, next = *at;
	int ret = reader_instructions(&part, address_of(work, work->annotation->offset) + *at,
				      work->request->syntax, &all, &nr, &work->no_code);

	for (i = 0; !ret && i < nr && next == *at; i++) {
		if (i && end < code->size && end - *at < INSTRUCTION_BYTES)
			break;
		ret = add_instruction(work, code, *at, &all[i]);
		*at += all[i].size;
		next = work->from_hits ? next_hit(work, *at, bin) : *at;
	}
	if (!ret && !nr)
		ret = -EIO;
	*at = max_size(*at, next);
	return ret;
}

static int disassemble(struct annotating *work, const struct code *code)
{
	size_t at = 0, bin = 0;
	int ret = 0;

	while (!ret && at < code->size)
		ret = add_part(work, code, &at, &bin);
	if (!ret)
		ret = name_targets(work);
	find_rows_of_jumps(work->annotation);
	return ret;
}

/* Without code each row is a bin. A note says where the code is, or how to locate it. */
static int note_no_code(struct annotating *work)
{
	const struct profile_object *object = annotated_object(work);
	const struct error *why = &work->no_code;
	char hint[SYMFS_HINT];

	if (work->fd >= 0 || object->kind != PROFILE_FILE || !work->request->look_in_roots)
		return annotation_note(work->annotation, "no instructions, a row is a bin: %s%s%s",
				       why->text, *why->hint ? "; try: " : "", why->hint);
	hint_symfs(object, hint);
	return annotation_note(work->annotation, "no instructions, a row is a bin: %s%s", why->text,
			       hint);
}

int annotate_read_code(struct annotating *work)
{
	struct code code = { 0 };
	int ret = 0;

	if (!*work->no_code.text)
		ret = read_bytes(work, &code);
	work->annotation->code = code.bytes;
	if (!ret && code.bytes)
		ret = disassemble(work, &code);
	if (!ret && *work->no_code.text)
		ret = -ENOENT;
	return !ret || ret == -ENOMEM ? ret : note_no_code(work);
}

/* --- ticks ------------------------------------------------------------------------------------ */

/* Returns the first row at or after the offset. */
static size_t row_from(const struct annotation *annotation, uint64_t offset)
{
	return BISECT(i, annotation->nr_rows, annotation->rows[i].offset < offset);
}

/*
 * Finds the rows [*first, *end) that may own a bin's ticks: those that begin in it. Otherwise, as
 * in text that is not code, it is the row in which the bin begins.
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

/* Until all bins are counted, `first` links each row that shares ticks to the previous one. */
static void count_bins(struct annotating *work)
{
	struct annotation_row *rows = work->annotation->rows;
	const struct report_row *bin;
	size_t first, end, i;

	for (i = 0; i < work->bins.nr; i++) {
		bin = &work->bins.rows[i];
		rows_of_bin(work->annotation, bin, &first, &end);
		rows[first].ticks += bin->own.ticks;
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
							.ticks = bin->own.ticks,
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

int annotate_count(struct annotating *work)
{
	if (!work->annotation->nr_rows)
		return rows_from_bins(work);
	count_bins(work);
	gather_shared(work->annotation);
	return note_coarse(work->annotation);
}
