// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/lines.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/debug_file.h"
#include "symbol/elf_image.h"

/* libdw ends the process when memory is out, unless its handler leaves by a jump. */
static _Thread_local jmp_buf *out_of_memory;

static void __attribute__((noreturn)) leave_libdw(void)
{
	longjmp(*out_of_memory, 1);
}

void line_job_guard(Dwarf *dwarf)
{
	if (dwarf)
		dwarf_new_oom_handler(dwarf, leave_libdw);
}

int line_job_reopen(struct line_job *job)
{
	dwarf_end(job->dwarf);
	job->rows = 0;
	job->dwarf = dwarf_begin_elf(job->elf, DWARF_C_READ, NULL);
	if (!job->dwarf)
		return errno == ENOMEM ? -ENOMEM : -EINVAL;
	line_job_guard(job->dwarf);
	/* dwz moves what several files share into one more, with a handler of its own. */
	line_job_guard(dwarf_getalt(job->dwarf));
	return 0;
}

static int run_job(struct line_job *job)
{
	jmp_buf environment;
	int code;

	out_of_memory = &environment;
	if (setjmp(environment))
		return -ENOMEM;
	errno = 0;
	code = line_job_reopen(job);
	return code ? code : line_units_resolve(job);
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Offsets outside the text keep an empty line. */
static struct place *make_places(const struct elf_image *image, const uint64_t *offsets, size_t nr,
				 size_t *nr_places)
{
	struct place *places = malloc((nr + 1) * sizeof(*places));
	size_t i, used = 0;

	if (!places)
		return NULL;
	for (i = 0; i < nr; i++) {
		places[used].index = i;
		if (elf_image_address(image, offsets[i], &places[used].address))
			used++;
	}
	*nr_places = used;
	qsort(places, used, sizeof(*places), compare_places);
	return places;
}

static bool has_dwarf(const struct elf_image *image)
{
	GElf_Shdr header;

	return elf_image_section(image, ".debug_info", &header) ||
	       elf_image_section(image, ".zdebug_info", &header);
}

static int resolve(const struct elf_image *image, Elf *elf, const uint64_t *offsets,
		   struct source_lines *lines)
{
	struct line_job job = { .elf = elf, .lines = lines };
	struct place *places;
	int code;

	places = make_places(image, offsets, lines->nr, &job.nr);
	if (!places)
		return -ENOMEM;
	job.places = places;
	code = job.nr ? run_job(&job) : 0;
	dwarf_end(job.dwarf);
	free(job.unit.places);
	free(job.unit.frames);
	free(places);
	/* DWARF that cannot be read is as good as none. */
	return code == -ENOMEM ? code : 0;
}

static int resolve_with_debug_file(const struct elf_image *image, int fd, const char *path,
				   const char *root, const uint64_t *offsets,
				   struct source_lines *lines)
{
	struct elf_image debug;
	int debug_fd, code = 0;

	if (has_dwarf(image))
		return resolve(image, image->elf, offsets, lines);
	debug_fd = debug_file_open(image->elf, fd, path, root);
	if (debug_fd < 0)
		return debug_fd == -ENOMEM ? debug_fd : 0;
	if (!elf_image_open(debug_fd, ELF_MAP, &debug, NULL)) {
		code = resolve(image, debug.elf, offsets, lines);
		elf_image_close(&debug);
	}
	close(debug_fd);
	return code;
}

int source_lines_load(int fd, const char *path, const char *root, const uint64_t *offsets,
		      size_t nr, struct source_lines **ret, struct error *err)
{
	struct source_lines *lines;
	struct elf_image image;
	int code;

	code = elf_image_open(fd, ELF_MAP, &image, err);
	if (code)
		return code;
	code = -ENOMEM;
	lines = calloc(1, sizeof(*lines));
	if (!lines)
		goto out;
	lines->nr = nr;
	lines->lines = calloc(nr + 1, sizeof(*lines->lines));
	if (lines->lines)
		code = resolve_with_debug_file(&image, fd, path, root, offsets, lines);
out:
	elf_image_close(&image);
	if (code) {
		source_lines_free(lines);
		return error_errno(err, code, "source lines of %s", path);
	}
	*ret = lines;
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
