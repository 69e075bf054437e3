// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Builds the samples of bins, with places in the wanted detail. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/export_impl.h"
#include "export/samples_impl.h"
#include "naming/allowance.h"
#include "naming/object_file.h"
#include "profile/profile_rows.h"
#include "profile/waits_view.h"
#include "reader/reader.h"

/* --- source lines --- */

/*
 * Source lines for the rows of a part. The part must be an object, and its file must be readable.
 */
struct place_lines {
	struct source_lines *lines; /* by distinct offset; NULL: none */
	size_t next;
	const struct source_line *line; /* of the last row */
	char why[EXPORT_NOTE_BYTES]; /* the first object without lines, and the reason; "" */
	size_t others; /* other objects without lines */
	struct allowance allowance;
};

/* Collects the object's offsets, ascending, without duplicates. */
static uint64_t *gather_offsets(struct profile_rows *rows, size_t *nr)
{
	const struct profile_row *row;
	uint64_t *offsets;
	size_t i = 0;

	*nr = 0;
	while ((row = profile_rows_next(rows)))
		*nr += !row->again;
	profile_rows_restart(rows);
	offsets = malloc((*nr + 1) * sizeof(*offsets));
	while (offsets && (row = profile_rows_next(rows))) {
		if (!row->again)
			offsets[i++] = row->offset;
	}
	profile_rows_restart(rows);
	return offsets;
}

static int load_lines_of_file(struct place_lines *lines, const struct profile_object *object,
			      struct profile_rows *rows, struct error *why)
{
	cleanup_fd int fd = object_file_here(object, why);
	cleanup_free uint64_t *offsets = NULL;
	size_t nr;

	if (fd < 0)
		return fd;
	lines->allowance.seconds = ALLOWANCE_LINES;
	offsets = gather_offsets(rows, &nr);
	if (!offsets)
		return error_errno(why, -ENOMEM, "%.256s", object->path);
	return object_lines_load(&(struct reader_file){ fd, object->path, "" }, &lines->allowance,
				 offsets, nr, &lines->lines, why);
}

static void forget_lines(struct place_lines *lines)
{
	source_lines_free(lines->lines);
	lines->lines = NULL;
	lines->line = NULL;
	lines->next = 0;
}

/* Loads the lines of a part. Rows must be at its first row. */
static void place_lines_load(struct place_lines *lines, struct profile_rows *rows)
{
	const struct profile_object *object = &rows->profile->objects[rows->object];
	struct error why = { 0 };

	forget_lines(lines);
	/* The vdso has a name but no file. */
	if (object->kind != PROFILE_FILE || object->path[0] != '/' ||
	    !load_lines_of_file(lines, object, rows, &why))
		return;
	if (lines->why[0])
		lines->others++;
	else
		snprintf(lines->why, sizeof(lines->why), "no source lines of %.200s", why.text);
}

/*
 * Returns the line of the part's next row; call it once for each. NULL: DWARF has none. The line is
 * valid until the next load.
 */
static const struct source_line *place_lines_next(struct place_lines *lines,
						  const struct profile_row *row)
{
	if (lines->lines && !row->again) {
		lines->line = source_lines_at(lines->lines, lines->next++);
		if (!lines->line->file)
			lines->line = NULL;
	}
	return lines->line;
}

/* Adds a note on objects without lines, and frees. */
static void place_lines_end(struct place_lines *lines, const struct export_options *options)
{
	forget_lines(lines);
	allowance_free(&lines->allowance);
	if (!options->note || !lines->why[0])
		return;
	if (lines->others)
		snprintf(options->note, EXPORT_NOTE_BYTES, "%.220s; nor of %zu more", lines->why,
			 lines->others);
	else
		snprintf(options->note, EXPORT_NOTE_BYTES, "%s", lines->why);
}

/* --- places --- */

/* The numbers for a histogram; service 0: not looked up yet. */
struct numbers {
	uint32_t service, process;
};

struct build {
	struct samples *samples;
	const struct profile *profile;
	const struct export_options *options;
	struct profile_rows rows;
	struct place_lines lines;
	struct profile_text whole; /* all of the current object */
	uint32_t place; /* of the current row */
	struct numbers *numbers; /* by histogram */
	uint32_t *called; /* by place of calls: number of its place */
};

/* The segment with the offset. An object without segments has one mapping for all of its ticks. */
static uint32_t mapping_of_place(const struct build *build, const struct profile_row *row)
{
	const struct profile_object *object = &build->profile->objects[row->object];
	const struct profile_histogram *histogram = row->histogram;
	struct profile_text whole = build->rows.calls;

	if (histogram)
		whole = (struct profile_text){ histogram->offset, histogram->offset,
					       histogram->size };
	if (build->options->binned_only)
		whole = build->whole;
	if (object->nr_text)
		whole = *(profile_text_at(object->text, object->nr_text, row->offset) ?:
											object->text);
	else if (whole.address + whole.size < whole.address)
		whole.size = UINT64_MAX - whole.address;
	if (object->kind != PROFILE_FILE)
		whole.offset = 0;
	return samples_mapping(build->samples, row->object, &whole);
}

static const char *outer_name(const struct profile_function *function,
			      const struct source_line *source)
{
	if (function && *function->name)
		return function->name;
	return source && source->function ? source->function : "[unknown]";
}

/* Innermost first. The last one is the function of the code. */
static size_t make_lines(struct build *build, const struct profile_function *function,
			 const struct source_line *source, struct sample_line lines[FRAMES_MAX])
{
	struct samples *samples = build->samples;
	size_t nr = 0;

	for (; source && source->caller; source = source->caller) {
		if (nr == FRAMES_MAX - 1)
			continue;
		lines[nr].function = samples_function(
			samples, source->function ? source->function : "[inlined]", source->file);
		lines[nr++].line = source->line;
	}
	lines[nr].function = samples_function(samples, outer_name(function, source),
					      source ? source->file : NULL);
	lines[nr++].line = source ? source->line : 0;
	return nr;
}

static uint32_t make_place(struct build *build, const struct profile_row *row,
			   const struct source_line *source)
{
	const struct profile_object *object = &build->profile->objects[row->object];
	const struct profile_function *function = profile_rows_function(&build->rows, row);
	struct sample_line lines[FRAMES_MAX];
	struct sample_place made = { .mapping = mapping_of_place(build, row) };

	made.function = function;
	made.kind = object->kind == PROFILE_KERNEL ? PLACE_KERNEL : PLACE_USER;
	made.start = function ? profile_object_address(object, function->offset) :
				build->samples->mappings[made.mapping].text.address;
	made.address = function && build->options->detail == EXPORT_FUNCTION ?
			       made.start :
			       profile_object_address(object, row->offset);
	made.nr = make_lines(build, function, source, lines);
	made.nameless = !function && !source;
	if (build->options->detail == EXPORT_ADDRESS)
		return samples_new_place(build->samples, &made, lines);
	return samples_place(build->samples, &made, lines);
}

static void put_row(struct build *build, const struct profile_row *row)
{
	const struct profile_histogram *histogram = row->histogram;
	const struct profile_node *node =
		row->node == PROFILE_NO_NODE ? NULL : &build->profile->callers->nodes[row->node];
	struct numbers *numbers;

	if (!histogram) {
		build->called[row->number] = build->place;
		return;
	}
	numbers = &build->numbers[histogram - build->profile->histograms];
	if (!numbers->service) {
		numbers->service =
			samples_service(build->samples, histogram->target, histogram->cgroup);
		numbers->process = samples_process(build->samples, histogram);
	}
	samples_add(build->samples, &(struct sample){
					    .service = numbers->service,
					    .place = build->place,
					    .process = numbers->process,
					    .callers = 1 + row->node, /* until settle_callers() */
					    .ticks = row->ticks,
					    .ns = profile_rows_next_ns(&build->rows, row),
					    .waits = node ? node->waits : 0,
				    });
}

static int put_part(struct build *build)
{
	const struct source_line *line = NULL;
	bool with_lines = build->options->detail != EXPORT_FUNCTION;
	const struct profile_row *row;
	int ret = 0;

	build->whole = profile_rows_extent(&build->rows);
	if (with_lines)
		place_lines_load(&build->lines, &build->rows);
	while (!ret && (row = profile_rows_next(&build->rows))) {
		if (with_lines)
			line = place_lines_next(&build->lines, row);
		if (!row->again)
			build->place = make_place(build, row, line);
		put_row(build, row);
		ret = samples_error(build->samples);
	}
	return ret;
}

static int put_rows(struct build *build)
{
	int ret = 0;

	profile_rows_start(&build->rows, PROFILE_ROWS_BY_PLACE | PROFILE_ROWS_OF_CHAINS);
	while (!ret && profile_rows_next_part(&build->rows))
		ret = put_part(build);
	return ret;
}

/* --- callers --- */

/* A table must not have unused entries. */
static uint32_t frame_of_cut(void *of, enum walk_end end)
{
	const struct build *build = of;

	return build->rows.ends[end] ?
		       samples_named_place(build->samples, "%s", profile_cut_names[end]) :
		       0;
}

static size_t frame_of_call(void *of, const struct profile_row *row, uint32_t *frames)
{
	const struct build *build = of;

	frames[0] = build->called[row->number];
	return 1;
}

static const struct profile_object *object_of_place(const void *of, uint32_t place)
{
	const struct samples *samples = of;
	uint32_t mapping = samples->places[place].mapping;

	return mapping ? &samples->profile->objects[samples->mappings[mapping].object] : NULL;
}

/* Uses the program as process, if the profile is not split by process. */
static void set_program(struct samples *samples, struct sample *sample,
			const struct profile_object *program)
{
	const struct sample_process *process = &samples->processes[sample->process];

	program = program ?: profile_as_program(object_of_place(samples, sample->place));
	if (program)
		sample->process = samples_process_of(samples, samples->values.all[process->pid],
						     profile_object_base(program));
}

/* Call it when all places are known. */
static int settle_callers(struct build *build)
{
	struct samples *samples = build->samples;
	const struct profile_frames frames = { .tree = &samples->callers,
					       .of_text = frame_of_call,
					       .of_cut = frame_of_cut,
					       .of = build };
	cleanup_free const struct profile_object **programs = NULL;
	struct sample *sample = samples->all;
	size_t i;

	if (!build->profile->callers)
		return 0;
	if (profile_rows_add_callers(&build->rows, &frames))
		return -ENOMEM;
	programs = chain_tree_programs(&samples->callers, object_of_place, samples);
	if (!programs)
		return -ENOMEM;
	for (i = 0; i < samples->nr; i++, sample++) {
		/* Without a node, this is PROFILE_NO_NODE. */
		sample->callers = profile_rows_above(&build->rows, sample->callers - 1);
		if (!build->rows.is_split)
			set_program(samples, sample, programs[sample->callers]);
	}
	return samples_error(samples);
}

static int begin(struct build *build)
{
	const struct profile *profile = build->profile;
	const size_t sites = profile->callers ? profile->callers->nr_sites : 0;

	build->numbers = calloc(profile->nr_histograms + 1, sizeof(*build->numbers));
	build->called = calloc(sites + 1, sizeof(*build->called));
	return build->numbers && build->called ? 0 : -ENOMEM;
}

static int build_samples(struct samples *samples, const struct profile *profile,
			 const struct export_options *options)
{
	struct build build = { .samples = samples, .profile = profile, .options = options };
	int ret = export_rows_begin(&build.rows, profile, options, PROFILE_ROWS_WITH_OWN_CALLERS);

	if (!ret)
		ret = begin(&build);
	if (!ret)
		ret = put_rows(&build);
	if (!ret)
		ret = settle_callers(&build);
	if (!ret && !options->object && !options->binned_only)
		samples_add_account(samples, build.rows.weights, options);
	if (!ret)
		ret = samples_error(samples);
	if (!ret)
		samples_settle(samples);
	place_lines_end(&build.lines, options);
	profile_rows_end(&build.rows);
	free(build.numbers);
	free(build.called);
	return ret;
}

/* Makes the view of waits and ticks. */
static int open_view(struct samples *samples, const struct profile *profile)
{
	samples->view = calloc(1, sizeof(*samples->view));
	if (!samples->view)
		return -ENOMEM;
	samples->profile = &samples->view->profile;
	return waits_view_open(samples->view, profile, NULL, true);
}

int samples_build(struct samples *samples, const struct profile *profile,
		  const struct export_options *options, struct error *err)
{
	int ret = samples_begin(samples, profile);

	if (!ret && options->waits && profile->waits)
		ret = open_view(samples, profile);
	if (!ret)
		ret = build_samples(samples, samples->profile, options);
	return ret ? error_errno(err, ret, "samples") : 0;
}
