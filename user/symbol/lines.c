// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/lines.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/util.h"
#include "elf/elf_check.h"
#include "elf/elf_image.h"
#include "symbol/debug_file.h"

/* The clock is read only every so many steps, because reading it takes as long as a few steps. */
#define STEPS_UNTIMED 256

/* libdw ends the process when it runs out of memory, unless its handler leaves by a jump. */
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

/* libdw has unpacked the section by now. */
static void find_line_programs(struct line_job *job)
{
	Elf_Scn *section;
	GElf_Shdr header;

	section = elf_image_section(job->image, ".debug_line", &header);
	if (!section)
		section = elf_image_section(job->image, ".zdebug_line", &header);
	job->line_programs = section ? elf_rawdata(section, NULL) : NULL;
}

int line_job_reopen(struct line_job *job)
{
	dwarf_end(job->dwarf);
	job->rows = 0;
	job->dwarf = dwarf_begin_elf(job->image->elf, DWARF_C_READ, NULL);
	if (!job->dwarf)
		return errno == ENOMEM ? -ENOMEM : -EINVAL;
	line_job_guard(job->dwarf);
	find_line_programs(job);
	return line_job_share(job);
}

int line_job_step(struct line_job *job)
{
	if (++job->steps % STEPS_UNTIMED)
		return 0;
	return thread_cpu_ns() > job->until_ns ? -E2BIG : 0;
}

/* The data of this process, as RLIMIT_DATA counts it. */
static uint64_t data_bytes(void)
{
	unsigned long pages = 0;
	char line[128];

	if (read_first_line("/proc/self/statm", line, sizeof(line)) ||
	    sscanf(line, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
		return 0;
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * libdw joins the name of each file in a line table with that of its folder, so some megabytes of
 * hostile names make terabytes. It cannot be told to stop, but it stops when it gets no memory.
 */
static void limit_memory(struct line_job *job)
{
	struct rlimit limit;

	job->data_before = data_bytes();
	if (!job->data_before || getrlimit(RLIMIT_DATA, &job->limit_before))
		return;
	limit = job->limit_before;
	if (limit.rlim_cur > job->data_before + LINE_MEMORY_MAX)
		limit.rlim_cur = job->data_before + LINE_MEMORY_MAX;
	job->limited = !setrlimit(RLIMIT_DATA, &limit);
}

/*
 * Tells whether a lack of memory was due to the limit, and lifts it. This must run before the
 * memory is freed.
 */
static int lift_limit(struct line_job *job, int code)
{
	if (!job->limited)
		return code;
	job->limited = false;
	setrlimit(RLIMIT_DATA, &job->limit_before);
	if (code != -ENOMEM || data_bytes() < job->data_before + LINE_MEMORY_MAX / 2)
		return code;
	return error_set(&job->lines->why, -E2BIG,
			 "debug information that takes more than %d MiB of memory",
			 LINE_MEMORY_MAX >> 20);
}

static int run_job(struct line_job *job)
{
	jmp_buf environment;
	int ret;

	out_of_memory = &environment;
	if (setjmp(environment))
		return lift_limit(job, -ENOMEM);
	errno = 0;
	job->until_ns = thread_cpu_ns() + LINE_JOB_SECONDS * 1000000000ULL;
	ret = line_job_reopen(job);
	if (ret)
		return ret;
	/* Called after the sections are unpacked, because these have a limit of their own. */
	limit_memory(job);
	return lift_limit(job, line_units_resolve(job));
}

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
	ret = job.nr ? run_job(&job) : 0;
	dwarf_end(job.dwarf);
	line_job_unshare(&job);
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
