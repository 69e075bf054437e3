// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/lines.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/util.h"
#include "elf/elf_check.h"
#include "elf/elf_image.h"
#include "symbol/debug_file.h"

static int compare_asked_places(const void *left, const void *right)
{
	const struct asked_place *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Offsets that are outside of the text keep an empty line. */
static struct asked_place *make_places(const struct elf_image *image, const uint64_t *offsets,
				       size_t nr, size_t *nr_places)
{
	struct asked_place *places = malloc((nr + 1) * sizeof(*places));
	size_t i, used = 0;

	if (!places)
		return NULL;
	for (i = 0; i < nr; i++) {
		places[used].index = i;
		if (elf_image_address(image, offsets[i], &places[used].address))
			used++;
	}
	*nr_places = used;
	qsort(places, used, sizeof(*places), compare_asked_places);
	return places;
}

static bool has_dwarf(const struct elf_image *image)
{
	GElf_Shdr header;

	return elf_image_section(image, ".debug_info", &header) ||
	       elf_image_section(image, ".zdebug_info", &header);
}

static int resolve_lines(const struct elf_image *image, struct line_job job,
			 const uint64_t *offsets)
{
	struct source_lines *lines = job.lines;
	struct asked_place *places;
	int ret;

	ret = elf_check_packed(&job.image->file, &lines->why);
	if (ret)
		return ret;
	places = make_places(image, offsets, lines->nr, &job.nr);
	if (!places)
		return -ENOMEM;
	job.places = places;
	ret = job.nr ? line_job_run(&job, line_units_resolve) : 0;
	line_job_close(&job);
	free(job.unit.places);
	free(job.unit.frames);
	free(places);
	/* Unreadable DWARF is treated as none. */
	return ret == -ENOMEM || ret == -E2BIG ? ret : 0;
}

/* If the file belongs to us or root, its references to other files can be trusted. */
static void set_owner(struct line_job *job, int fd)
{
	struct stat stat = { .st_uid = NO_UID };

	fstat(fd, &stat);
	job->owner = stat.st_uid;
	job->trusted = job->trusted && regular_file_is_from(&stat, 0);
}

static int resolve_with_debug_file(const struct elf_image *image, int fd, const char *path,
				   const char *root, const uint64_t *offsets,
				   struct source_lines *lines)
{
	struct line_job job = { .image = image,
				.path = path,
				.root = root,
				.lines = lines,
				.trusted = true };
	char debug_path[PATH_MAX];
	struct elf_image debug;
	int debug_fd, ret = 0;

	set_owner(&job, fd);
	if (has_dwarf(image))
		return resolve_lines(image, job, offsets);
	debug_fd = debug_file_open(image->elf, fd, path, root, debug_path);
	if (debug_fd < 0)
		return debug_fd == -ENOMEM ? debug_fd : 0;
	if (!elf_image_open(debug_fd, &debug, NULL)) {
		job.image = &debug;
		job.path = debug_path;
		set_owner(&job, debug_fd);
		ret = resolve_lines(image, job, offsets);
		elf_image_close(&debug);
	}
	close(debug_fd);
	return ret;
}

static void fail_lines(int code, const char *path, const struct source_lines *lines,
		       struct error *err)
{
	if (lines && *lines->why.text)
		error_set(err, code, "%.200s: %.256s", path, lines->why.text);
	else if (code == -E2BIG)
		error_set(err, code,
			  "%.256s: more debug information than is read in %d seconds of CPU time",
			  path, LINE_JOB_SECONDS);
	else
		error_errno(err, code, "source lines of %.256s", path);
}

int source_lines_load(int fd, const char *path, const char *root, const uint64_t *offsets,
		      size_t nr, struct source_lines **result, struct error *err)
{
	struct source_lines *lines;
	struct elf_image image;
	int ret;

	ret = elf_image_open(fd, &image, err);
	if (ret)
		return ret;
	ret = -ENOMEM;
	lines = calloc(1, sizeof(*lines));
	if (!lines)
		goto out;
	lines->nr = nr;
	lines->lines = calloc(nr + 1, sizeof(*lines->lines));
	if (lines->lines)
		ret = resolve_with_debug_file(&image, fd, path, root, offsets, lines);
out:
	elf_image_close(&image);
	if (ret) {
		fail_lines(ret, path, lines, err);
		source_lines_free(lines);
		return ret;
	}
	*result = lines;
	return 0;
}

const struct source_line *source_lines_at(const struct source_lines *lines, size_t i)
{
	return &lines->lines[i];
}

void source_lines_free(struct source_lines *lines)
{
	struct call_site *site, *next;
	struct scope *scope, *next_scope;

	if (!lines)
		return;
	for (scope = lines->scopes; scope; scope = next_scope) {
		next_scope = scope->next;
		free(scope);
	}
	for (site = lines->sites; site; site = next) {
		next = site->next;
		free(site);
	}
	string_set_free(&lines->strings);
	free(lines->lines);
	free(lines);
}
