// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/program_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/util.h"
#include "elf/elf_image.h"

enum { FILES_MAX = 256, ENTRIES_MAX = 512, MAPPED_BYTES = 4096 };

struct program_file {
	dev_t dev;
	ino_t inode;
	void *text;
};

/* One file whose libraries are looked for, and its list of folders. */
struct needing {
	struct program_files *files;
	const char *origin; /* its own folder */
	char paths[PATH_MAX]; /* DT_RUNPATH or DT_RPATH; "": it has none */
};

static void add_program(struct program_files *files, const char *path);

static bool is_known(const struct program_files *files, const struct stat *stat)
{
	size_t i;

	for (i = 0; i < files->nr; i++)
		if (files->list[i].dev == stat->st_dev && files->list[i].inode == stat->st_ino)
			return true;
	return false;
}

/* The first existing DIR/NAME, with the folders of a list like PATH. */
static bool search(const char *dirs, const char *origin, const char *name, char path[PATH_MAX])
{
	static const char word[] = "$ORIGIN";
	const char *end;

	for (; dirs && *dirs; dirs = *end ? end + 1 : end) {
		bool own = !strncmp(dirs, word, sizeof(word) - 1);

		end = strchrnul(dirs, ':');
		if (own)
			dirs += sizeof(word) - 1;
		snprintf(path, PATH_MAX, "%s%.*s/%s", own ? origin : "", (int)(end - dirs), dirs,
			 name);
		if (!access(path, R_OK))
			return true;
	}
	return false;
}

/* The loader's own list begins with these, and files in its cache are usually in one of them. */
static void add_library(const struct needing *needing, const char *name)
{
	char path[PATH_MAX], dirs[512];
	struct utsname host;

	uname(&host);
	snprintf(dirs, sizeof(dirs),
		 "/lib/%s-linux-gnu:/usr/lib/%s-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib:"
		 "/usr/local/lib",
		 host.machine, host.machine);
	if (search(needing->paths, needing->origin, name, path) ||
	    search(getenv("LD_LIBRARY_PATH"), needing->origin, name, path) ||
	    search(dirs, "", name, path))
		add_program(needing->files, path);
}

/* A copy, because a string that ends with its section has no NUL. */
static bool dynamic_string(const struct elf_image *image, const GElf_Shdr *header,
			   const GElf_Dyn *entry, char text[PATH_MAX])
{
	size_t length;
	const char *found =
		elf_image_string(image->elf, header->sh_link, entry->d_un.d_val, &length);

	if (!found || length >= PATH_MAX)
		return false;
	memcpy(text, found, length);
	text[length] = '\0';
	return true;
}

static void add_libraries(const struct elf_image *image, struct needing *needing)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_image_section(image, ".dynamic", &header);
	Elf_Data *data = elf_section_entries(section);
	char name[PATH_MAX];
	GElf_Dyn entry;
	int i;

	for (i = 0; i < ENTRIES_MAX && data && gelf_getdyn(data, i, &entry) && entry.d_tag; i++)
		if ((entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) &&
		    !dynamic_string(image, &header, &entry, needing->paths))
			needing->paths[0] = '\0';
	for (i = 0; i < ENTRIES_MAX && data && gelf_getdyn(data, i, &entry) && entry.d_tag; i++)
		if (entry.d_tag == DT_NEEDED && dynamic_string(image, &header, &entry, name))
			add_library(needing, name);
}

static void add_loader(struct program_files *files, const struct elf_image *image)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_image_section(image, ".interp", &header);
	Elf_Data *data = elf_section_bytes(section);
	char path[PATH_MAX];

	if (!data || data->d_size > sizeof(path))
		return;
	memcpy(path, data->d_buf, data->d_size);
	path[data->d_size - 1] = '\0';
	add_program(files, path);
}

static void add_command(struct program_files *files, const char *command)
{
	char path[PATH_MAX];

	if (strchr(command, '/'))
		add_program(files, command);
	else if (search(getenv("PATH"), "", command, path))
		add_program(files, path);
}

/* Adds the interpreter of a #! line, and the program that env runs. */
static void add_interpreter(struct program_files *files, char *line)
{
	char *rest = NULL, *program, *argument;
	const char *base;

	line[strcspn(line, "\n")] = '\0';
	program = strtok_r(line + 2, " \t", &rest);
	argument = strtok_r(NULL, " \t", &rest);
	base = program ? strrchr(program, '/') : NULL;
	if (!base)
		return;
	add_program(files, program);
	if (argument && !strcmp(base, "/env"))
		add_command(files, argument);
}

static void add_needed(struct program_files *files, const char *path, int fd)
{
	char line[256] = "", origin[PATH_MAX];
	struct needing needing = { .files = files, .origin = origin };
	struct elf_image image;
	struct error ignored;

	if (pread(fd, line, sizeof(line) - 1, 0) > 2 && !memcmp(line, "#!", 2)) {
		add_interpreter(files, line);
		return;
	}
	snprintf(origin, sizeof(origin), "%.*s", (int)(strrchr(path, '/') - path), path);
	if (elf_image_open(fd, &image, &ignored))
		return;
	add_loader(files, &image);
	add_libraries(&image, &needing);
	elf_image_close(&image);
}

static void add_program(struct program_files *files, const char *path)
{
	cleanup_fd int fd = strchr(path, '/') ? regular_file_open("", path, NULL) : -ENOENT;
	struct program_file file;
	struct stat stat;

	/* Programs of other users may name any file as their library. */
	if (fd < 0 || fstat(fd, &stat) || is_known(files, &stat) || files->nr >= FILES_MAX ||
	    GROW(files->list, files->room, files->nr + 1))
		return;
	file = (struct program_file){ .dev = stat.st_dev, .inode = stat.st_ino };
	file.text = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	files->list[files->nr++] = file;
	add_needed(files, path, fd);
}

void program_files_map(struct program_files *files, const char *command)
{
	*files = (struct program_files){ 0 };
	add_command(files, command);
}

void program_files_free(struct program_files *files)
{
	size_t i;

	for (i = 0; i < files->nr; i++)
		if (files->list[i].text != MAP_FAILED)
			munmap(files->list[i].text, MAPPED_BYTES);
	free(files->list);
}
