// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "symbol/line_job.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dwarf.h>

#include "base/regular_file.h"
#include "base/util.h"
#include "elf/elf_check.h"
#include "symbol/debug_file.h"

/* Read the clock only once in this many steps, because that takes as long as a few steps. */
#define STEPS_UNTIMED 256

/* libdw ends the process when memory runs out, unless its handler leaves by a jump. */
static _Thread_local jmp_buf *out_of_memory;

static void __attribute__((noreturn)) leave_libdw(void)
{
	longjmp(*out_of_memory, 1);
}

/* When memory runs out in this file, ends line_job_run() and not the process. NULL is fine. */
static void guard(Dwarf *dwarf)
{
	if (dwarf)
		dwarf_new_oom_handler(dwarf, leave_libdw);
}

/*
 * An empty debug file. Unless libdw is given a shared file, it searches for one. This is the only
 * way to prevent that.
 */
struct empty_file {
	Elf64_Ehdr head;
	Elf64_Shdr sections[3];
	char names[24];
	char lines[8];
};

static const struct empty_file empty = {
	.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			       EV_CURRENT },
		  .e_type = ET_EXEC,
		  .e_version = EV_CURRENT,
		  .e_shoff = offsetof(struct empty_file, sections),
		  .e_ehsize = sizeof(Elf64_Ehdr),
		  .e_shentsize = sizeof(Elf64_Shdr),
		  .e_shnum = 3,
		  .e_shstrndx = 1 },
	.sections = { [1] = { .sh_name = 1,
			      .sh_type = SHT_STRTAB,
			      .sh_offset = offsetof(struct empty_file, names),
			      .sh_size = sizeof(empty.names),
			      .sh_addralign = 1 },
		      [2] = { .sh_name = 7,
			      .sh_type = SHT_PROGBITS,
			      .sh_offset = offsetof(struct empty_file, lines),
			      .sh_size = sizeof(empty.lines),
			      .sh_addralign = 1 } },
	.names = "\0names\0.debug_line",
};

static void open_shared(struct line_job *job)
{
	cleanup_fd int fd =
		shared_file_open(job->dwarf, job->path, job->root, job->owner, job->trusted);

	if (fd >= 0 && !elf_image_open(fd, &job->shared, NULL) &&
	    !elf_check_packed(&job->shared.file, NULL))
		job->shared_dwarf = dwarf_begin_elf(job->shared.elf, DWARF_C_READ, NULL);
	if (job->shared_dwarf)
		return;
	elf_image_close(&job->shared);
	if (!elf_image_open_memory(&empty, sizeof(empty), &job->shared, NULL))
		job->shared_dwarf = dwarf_begin_elf(job->shared.elf, DWARF_C_READ, NULL);
}

/* Opens the other files that DWARF names. libdw would open anything, and block on a fifo. */
static int share(struct line_job *job)
{
	if (!job->shared_dwarf)
		open_shared(job);
	if (!job->shared_dwarf)
		return -ENOMEM;
	guard(job->shared_dwarf);
	dwarf_setalt(job->dwarf, job->shared_dwarf);
	return 0;
}

void line_job_close(struct line_job *job)
{
	dwarf_end(job->dwarf);
	dwarf_end(job->shared_dwarf);
	elf_image_close(&job->shared);
	job->shared_dwarf = NULL;
}

/* Whether only we and root can replace the file at path. */
static bool is_firm(const char *path)
{
	struct stat stat;

	if (lstat(path, &stat) || (stat.st_uid && !is_our_user(stat.st_uid)))
		return false;
	if (S_ISDIR(stat.st_mode) && (stat.st_mode & S_ISVTX))
		return true;
	return (S_ISDIR(stat.st_mode) || S_ISREG(stat.st_mode)) &&
	       !(stat.st_mode & (S_IWGRP | S_IWOTH));
}

/* path must not have symbolic links. This function cuts it off from its end. */
static bool is_firm_up_to_root(char *path)
{
	char *slash;

	while ((slash = strrchr(path, '/'))) {
		if (!is_firm(path))
			return false;
		*slash = '\0';
	}
	return is_firm("/");
}

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

/*
 * The path of the split unit that libdw will open; false: there is none, or libdw must not open it.
 */
static bool may_open_split(const struct line_job *job, Dwarf_Die *skeleton)
{
	const char *name = string_of(skeleton, DW_AT_dwo_name);
	const char *folder = string_of(skeleton, DW_AT_comp_dir);
	char path[PATH_MAX], real[PATH_MAX];
	struct elf_image image;
	cleanup_fd int fd = -1;
	bool good;

	if (!name)
		name = string_of(skeleton, DW_AT_GNU_dwo_name);
	if (!job->trusted || *job->root || !name || (name[0] != '/' && !folder))
		return false;
	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' ? "" : folder,
			     name[0] == '/' ? "" : "/", name) >= sizeof(path) ||
	    path[0] != '/' || !realpath(path, real) || !is_firm_up_to_root(real))
		return false;
	fd = regular_file_open("", path, NULL);
	if (fd < 0 || elf_image_open(fd, &image, NULL))
		return false;
	good = !elf_check_packed(&image.file, NULL);
	elf_image_close(&image);
	return good;
}

bool line_job_split_unit(const struct line_job *job, Dwarf_Die *skeleton, Dwarf_Die *result)
{
	uint8_t type;

	if (dwarf_cu_info(skeleton->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) ||
	    type != DW_UT_skeleton || !may_open_split(job, skeleton))
		return false;
	if (dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, result, NULL, NULL, NULL) ||
	    !result->addr)
		return false;
	guard(dwarf_cu_getdwarf(result->cu));
	return true;
}

/* libdw has unpacked the section by now. */
static void find_line_programs(struct line_job *job)
{
	Elf_Scn *section;
	GElf_Shdr header;

	section = elf_image_section(job->image, ".debug_line", &header);
	if (!section)
		section = elf_image_section(job->image, ".zdebug_line", &header);
	job->line_programs = elf_section_bytes(section);
}

int line_job_reopen(struct line_job *job)
{
	dwarf_end(job->dwarf);
	job->rows = 0;
	job->dwarf = dwarf_begin_elf(job->image->elf, DWARF_C_READ, NULL);
	if (!job->dwarf)
		return errno == ENOMEM ? -ENOMEM : -EINVAL;
	guard(job->dwarf);
	find_line_programs(job);
	return share(job);
}

void line_job_begin(struct line_job *job)
{
	job->until_ns = thread_cpu_ns() + LINE_JOB_SECONDS * 1000000000ULL;
}

int line_job_step(struct line_job *job)
{
	if (++job->steps % STEPS_UNTIMED)
		return 0;
	return thread_cpu_ns() > job->until_ns ? -E2BIG : 0;
}

/*
 * libdw joins the name of each file in a line table with its folder, so that some megabytes of
 * hostile names become terabytes. libdw cannot be interrupted, but it stops when it gets no memory.
 */
int line_job_run(struct line_job *job, int (*resolve)(struct line_job *job))
{
	jmp_buf environment;
	int ret;

	out_of_memory = &environment;
	if (setjmp(environment))
		return error_set(&job->lines->why, -E2BIG,
				 "debug information that takes more memory than it may");
	errno = 0;
	line_job_begin(job);
	ret = line_job_reopen(job);
	return ret ? ret : resolve(job);
}
