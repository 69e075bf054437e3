// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <limits.h>
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
#include "symbol/lines.h"

/*
 * An empty debug file. libdw looks for a shared file by itself unless it is given one, and there is
 * no other way to tell it that there is none.
 */
struct empty_file {
	Elf64_Ehdr head;
	Elf64_Shdr sections[3];
	char names[24];
	char lines[8];
};

static const struct empty_file empty = {
	.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB :
									   ELFDATA2MSB,
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

int line_job_share(struct line_job *job)
{
	if (!job->shared_dwarf)
		open_shared(job);
	if (!job->shared_dwarf)
		return -ENOMEM;
	line_job_guard(job->shared_dwarf);
	dwarf_setalt(job->dwarf, job->shared_dwarf);
	return 0;
}

void line_job_unshare(struct line_job *job)
{
	dwarf_end(job->shared_dwarf);
	elf_image_close(&job->shared);
	job->shared_dwarf = NULL;
}

/* Whether nobody but us and root can put another file at path. */
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

/* path has no symbolic links in it; this function cuts it off from its end. */
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
 * The path that libdw will open for the split unit; false: it has none, or none that it may open.
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
	line_job_guard(dwarf_cu_getdwarf(result->cu));
	return true;
}
