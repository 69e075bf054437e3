// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Any bytes as the program of a profile, disassembled: the rows must add up to the ticks, and the
 * output must be harmless.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "elf/elf_image.h"
#include "report/annotate.h"
#include "symbol/symbol.h"

enum { BINS = 40 };

static const uint8_t *program;
static size_t program_size;

static int open_program(void *ctx, uint32_t object, char *root, size_t root_size)
{
	(void)ctx;
	(void)object;
	snprintf(root, root_size, "/nonexistent");
	return fuzz_file(program, program_size);
}

/* Takes over the contents of facts. */
static struct profile *make_profile(struct elf_facts *facts, uint64_t bytes_per_bin)
{
	struct profile *profile = profile_new();
	struct profile_histogram *histogram = calloc(1, sizeof(*histogram));
	size_t i;

	profile->objects = calloc(1, sizeof(*profile->objects));
	profile->objects->path = strdup("/fuzz/program");
	profile->objects->build_id = facts->build_id;
	profile->objects->text = facts->text;
	profile->objects->nr_text = facts->nr_text;
	profile->nr_objects = 1;
	histogram->pid = -1;
	histogram->offset = facts->text[0].offset / bytes_per_bin * bytes_per_bin;
	histogram->size = facts->text[0].size;
	histogram->width = 4;
	histogram->bytes_per_bin = bytes_per_bin;
	histogram->bins = calloc(BINS, sizeof(*histogram->bins));
	for (i = 0; i < BINS; i++)
		histogram->bins[histogram->nr_bins++] =
			(struct profile_bin){ 3 * i + i % 2, i + 1 };
	profile->histograms = histogram;
	profile->nr_histograms = 1;
	profile->targets = calloc(1, sizeof(*profile->targets));
	profile->targets->kind = strdup("command");
	profile->targets->name = strdup("program");
	profile->nr_targets = 1;
	profile->ticks.total = profile->ticks.binned = profile_histogram_ticks(histogram);
	profile->targets->ticks = profile->ticks;
	return profile;
}

static void check_written(const struct annotation *annotation, enum report_format format)
{
	const struct annotation_view view = { .format = format, .limit = 50 };
	struct fuzz_text text;

	fuzz_check(!annotation_write(annotation, &view, fuzz_text_begin(&text)), "it is written");
	fuzz_text_end(&text);
	if (format == REPORT_JSON)
		fuzz_check_json(&text);
	else
		fuzz_check_plain(&text);
	fuzz_text_free(&text);
}

static void check_annotation(const struct annotation *annotation)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < annotation->nr_rows; i++) {
		const struct annotation_row *row = &annotation->rows[i];

		ticks += row->ticks;
		fuzz_check(!i || row->offset > row[-1].offset, "rows ascend");
		fuzz_check(row->line == ANNOTATION_NONE || row->line < annotation->nr_lines,
			   "a row's line is one");
		fuzz_check(row->jump == ANNOTATION_NONE || row->jump < annotation->nr_rows,
			   "a row jumps to one");
	}
	fuzz_check(ticks == annotation->ticks, "the rows add up to the function's ticks");
	check_written(annotation, REPORT_TEXT);
	check_written(annotation, REPORT_CSV);
	check_written(annotation, REPORT_JSON);
}

static void annotate(const struct profile *profile)
{
	const struct object_opener opener = { .open = open_program };
	const struct annotation_request request = { .place = profile->functions[0].name,
						    .target = REPORT_ALL_TARGETS,
						    .opener = &opener,
						    .kcore = "/nonexistent",
						    .lanes = ANNOTATION_LANES };
	struct error err = { "", "" };
	struct annotation *annotation;

	if (annotation_build(profile, &request, &annotation, &err)) {
		fuzz_check_refusal(&err);
		return;
	}
	check_annotation(annotation);
	annotation_free(annotation);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct object_opener opener = { .open = open_program };
	struct elf_facts facts = { 0 };
	struct error err = { "", "" };
	struct profile *profile;
	int fd, failed;

	if (!size)
		return 0;
	program = data + 1;
	program_size = size - 1;
	fd = fuzz_file(program, program_size);
	failed = elf_facts_read(fd, &facts, &err);
	close(fd);
	if (failed || !facts.nr_text) {
		if (failed)
			fuzz_check_refusal(&err);
		elf_facts_free(&facts);
		return 0;
	}
	profile = make_profile(&facts, 1u << (*data & 3));
	fuzz_check(!functions_resolve(profile, &opener, &err), "functions are resolved");
	if (profile->nr_functions)
		annotate(profile);
	profile_free(profile);
	return 0;
}
