// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Writes LLVM's sample profile as text, for clang -fprofile-sample-use: how often each line of a
 * function runs, by discriminator and place of inlining.
 *
 * LLVM's own converters read data of a branch recorder. All instructions of a basic block have the
 * same count there, and a line gets the maximum of its instructions. A tick, however, is time: in a
 * block, the instruction that waits for memory has nearly all ticks, and a sum over a line would
 * favour lines with many instructions. Therefore the time of a basic block is first divided among
 * its instructions, which measures how often the block runs. Then the line gets the maximum, too.
 *
 * A count is the nanoseconds for one instruction of the block. LLVM only compares counts. Therefore
 * the unit does not matter.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "export/export_impl.h"
#include "export/sample_tree.h"
#include "profile/profile_rows.h"
#include "symbol/code.h"
#include "naming/allowance.h"
#include "naming/object_file.h"
#include "reader/reader.h"

/*
 * Ticks of single instructions of an object. A compiler needs to know the instruction, which only
 * bins of one byte show. Ticks of wider bins are skipped.
 */
struct exact_tick {
	uint64_t offset;
	uint64_t ticks;
	uint64_t ns; /* their CPU time */
};

struct exact_ticks {
	struct exact_tick *all; /* ascending by offset, without duplicates */
	size_t nr;
	size_t room;
	uint64_t wide; /* skipped ticks */
};

/*
 * Gathers the ticks of the current object, up to its end, and replaces earlier ones. Returns 0 or
 * -ENOMEM.
 */
static int exact_ticks_gather(struct exact_ticks *ticks, struct profile_rows *rows)
{
	struct exact_tick *last;
	const struct profile_row *row;
	int ret;

	ticks->nr = 0;
	ticks->wide = 0;
	while ((row = profile_rows_next(rows))) {
		if (row->size != 1) {
			ticks->wide += row->ticks;
			continue;
		}
		if (!ticks->nr || ticks->all[ticks->nr - 1].offset != row->offset) {
			ret = PUSH(ticks->all, ticks->room, ticks->nr,
				   (struct exact_tick){ .offset = row->offset });
			if (ret)
				return ret;
		}
		last = &ticks->all[ticks->nr - 1];
		last->ticks += row->ticks;
		last->ns += profile_rows_next_ns(rows, row);
	}
	return 0;
}

/* The index of the first tick at or above offset; nr: there is none. */
static size_t exact_ticks_from(const struct exact_ticks *ticks, uint64_t offset)
{
	return BISECT(i, ticks->nr, ticks->all[i].offset < offset);
}

#define NAME "llvm-sample"

struct line_count {
	uint64_t offset;
	uint64_t count;
	bool entry; /* the function begins with it */
};

struct llvm {
	const struct profile *profile;
	struct profile_rows rows;
	struct sample_tree *tree;
	struct exact_ticks ticks;
	struct line_count *all; /* the object's instructions */
	size_t nr;
	size_t room;
	uint64_t wide; /* ticks in wider bins */
	char why[EXPORT_NOTE_BYTES]; /* why the first object has no lines; "" */
	bool discriminators; /* some line has a discriminator */
	struct allowance allowance;
};

/* A file that a reader has no memory for is in a note, like any other that it cannot read. */
static int reader_result(int ret, const struct profile_object *object, struct error *err)
{
	return ret == -ENOMEM ? error_set(err, -ENODATA, "%.200s: out of memory", object->path) :
				ret;
}

/* False for a part that gcc split off a function: it is elsewhere, and not entered by a call. */
static bool is_entered(const struct profile_function *function)
{
	return !strstr(function->name, ".cold");
}

/* Adds a basic block, the instructions [first, first + nr), with its time. */
static int add_block(struct llvm *llvm, const struct profile_function *function,
		     const struct block_instruction *first, size_t nr, uint64_t size)
{
	uint64_t begin = function->offset + first->at, ns = 0;
	struct line_count *counted;
	size_t i;

	for (i = exact_ticks_from(&llvm->ticks, begin);
	     i < llvm->ticks.nr && llvm->ticks.all[i].offset < begin + size; i++)
		ns += llvm->ticks.all[i].ns;
	if (GROW(llvm->all, llvm->room, llvm->nr + nr))
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		counted = &llvm->all[llvm->nr++];
		counted->offset = function->offset + first[i].at;
		counted->count = (ns + nr - 1) / nr;
		counted->entry = !first[i].at && is_entered(function);
	}
	return 0;
}

static int add_blocks(struct llvm *llvm, const struct profile_function *function,
		      const struct code *code, struct error *err)
{
	const struct profile_object *object = &llvm->profile->objects[function->object];
	const uint64_t address = profile_object_address(object, function->offset);
	struct instruction *instructions;
	cleanup_free struct block_instruction *all = NULL;
	size_t nr, i, end;
	int ret = reader_instructions(code, address, DISASM_ATT, &instructions, &nr, err);

	if (ret)
		return reader_result(ret, object, err);
	all = blocks_find(instructions, nr, code->size, address);
	free(instructions);
	if (!all)
		return error_errno(err, -ENOMEM, NAME);
	for (i = 0; !ret && i < nr; i = end) {
		for (end = i + 1; end < nr && !all[end].first; end++)
			;
		ret = add_block(llvm, function, &all[i], end - i,
				(end < nr ? all[end].at : code->size) - all[i].at);
	}
	return ret ? error_errno(err, ret, NAME) : 0;
}

static int add_llvm_function(struct llvm *llvm, const struct profile_function *function, int fd,
			     struct error *err)
{
	uint64_t size = function->size < CODE_MAX ? function->size : CODE_MAX;
	size_t first = exact_ticks_from(&llvm->ticks, function->offset);
	struct code code;
	int ret;

	/* Skip functions without exact ticks, rather than claim that they never run. */
	if (first == llvm->ticks.nr || llvm->ticks.all[first].offset - function->offset >= size)
		return 0;
	ret = reader_code(fd, function->offset, (size_t)size, &code, err);
	if (ret)
		return reader_result(ret, &llvm->profile->objects[function->object], err);
	ret = add_blocks(llvm, function, &code, err);
	free(code.bytes);
	return ret;
}

DEFINE_COMPARE(compare_counted, struct line_count, offset)

static int add_llvm_lines(struct llvm *llvm, const struct source_lines *lines, bool *any)
{
	const struct source_line *line;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < llvm->nr; i++) {
		line = source_lines_at(lines, i);
		if (sample_tree_add(llvm->tree, line, llvm->all[i].count, llvm->all[i].entry, &ret))
			*any = true;
		llvm->discriminators = llvm->discriminators || line->discriminator;
	}
	return ret;
}

static int resolve_llvm_lines(struct llvm *llvm, const struct profile_object *object, int fd,
			      struct error *err)
{
	cleanup_free uint64_t *offsets = calloc(llvm->nr + 1, sizeof(*offsets));
	struct source_lines *lines;
	bool any = false;
	int ret;
	size_t i;

	if (!offsets)
		return error_errno(err, -ENOMEM, NAME);
	SORT(llvm->all, llvm->nr, compare_counted);
	for (i = 0; i < llvm->nr; i++)
		offsets[i] = llvm->all[i].offset;
	ret = object_lines_load(&(struct reader_file){ fd, object->path, "" }, &llvm->allowance,
				offsets, llvm->nr, &lines, err);
	if (ret)
		return reader_result(ret, object, err);
	ret = add_llvm_lines(llvm, lines, &any);
	source_lines_free(lines);
	if (ret)
		return error_errno(err, ret, NAME);
	if (llvm->nr && !any)
		return error_set(err, -ENODATA, "%.200s: no debug information", object->path);
	return 0;
}

static int add_llvm_object(struct llvm *llvm, uint32_t id, struct error *err)
{
	const struct profile *profile = llvm->profile;
	const struct profile_object *object = &profile->objects[id];
	cleanup_fd int fd = -1;
	int ret = 0;
	size_t i;

	if (object->kind != PROFILE_FILE || object->path[0] != '/')
		return error_set(err, -ENODATA, "%.200s: not a file", profile_object_base(object));
	fd = object_file_here(object, err);
	if (fd < 0)
		return reader_result(fd, object, err);
	llvm->nr = 0;
	for (i = 0; !ret && i < profile->nr_functions; i++)
		if (profile->functions[i].object == id)
			ret = add_llvm_function(llvm, &profile->functions[i], fd, err);
	return ret ? ret : resolve_llvm_lines(llvm, object, fd, err);
}

static int add_objects(struct llvm *llvm, struct error *err)
{
	struct error why;
	int ret;

	profile_rows_start(&llvm->rows, PROFILE_ROWS_BY_PLACE);
	while (profile_rows_next_part(&llvm->rows)) {
		ret = exact_ticks_gather(&llvm->ticks, &llvm->rows);
		if (ret)
			return error_errno(err, ret, NAME);
		llvm->wide += llvm->ticks.wide;
		why = (struct error){ 0 };
		ret = llvm->ticks.nr ? add_llvm_object(llvm, llvm->rows.object, &why) : 0;
		if (ret == -ENOMEM)
			return error_errno(err, ret, NAME);
		if (ret && !llvm->why[0])
			snprintf(llvm->why, sizeof(llvm->why), "nothing of %.200s", why.text);
	}
	return 0;
}

static int refuse_empty_llvm(const struct llvm *llvm, struct error *err)
{
	if (llvm->why[0])
		return error_with_hint(err, -ENODATA,
				       "build it with clang -g -fdebug-info-for-profiling",
				       NAME ": %s", llvm->why);
	if (llvm->wide)
		return error_with_hint(err, -ENODATA,
				       "sample with --bytes-per-bin 1, or more --memory",
				       NAME ": %" PRIu64 " ticks in bins wider than a byte",
				       llvm->wide);
	return error_set(err, -ENODATA, NAME ": no tick is in a function with source lines");
}

static void say_llvm_ticks(const struct llvm *llvm, char *note)
{
	if (!llvm->discriminators)
		export_add_note(note, "no discriminators: build with -fdebug-info-for-profiling");
	if (llvm->wide)
		export_add_note(note, "%" PRIu64 " ticks in bins wider than a byte are left out",
				llvm->wide);
	if (llvm->why[0])
		export_add_note(note, "%s", llvm->why);
}

static int put_llvm_functions(struct llvm *llvm, char *note, FILE *stream, struct error *err)
{
	int ret = add_objects(llvm, err);

	if (ret)
		return ret;
	errno = 0;
	ret = sample_tree_write(llvm->tree, stream);
	if (ret == -ENOMEM)
		return error_errno(err, ret, NAME);
	if (ret && !ferror(stream))
		return refuse_empty_llvm(llvm, err);
	if (note)
		say_llvm_ticks(llvm, note);
	return export_end(stream, NAME, err);
}

int export_llvm(const struct profile *profile, const struct export_options *options, FILE *stream,
		struct error *err)
{
	struct llvm llvm = { .profile = profile,
			     .tree = sample_tree_new(),
			     .allowance.seconds = ALLOWANCE_LINES };
	int ret = export_rows_begin(&llvm.rows, profile, options, PROFILE_ROWS_FLAT);

	if (!ret && llvm.tree)
		ret = put_llvm_functions(&llvm, options->note, stream, err);
	else
		ret = error_errno(err, -ENOMEM, NAME);
	sample_tree_free(llvm.tree);
	free(llvm.ticks.all);
	profile_rows_end(&llvm.rows);
	allowance_free(&llvm.allowance);
	free(llvm.all);
	return ret;
}
