// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "naming/nameless.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/text.h"
#include "base/util.h"
#include "profile/profile_notes.h"
#include "naming/object_file.h"

/*
 * The folder has a list of paths for each package. Reading 991 lists of 8.9 MB took 20 ms of CPU
 * time.
 */
#define DPKG_LISTS "/var/lib/dpkg/info"
#define SUFFIX ".list"

/* Whether the list has one of the two paths. */
static bool has_path(FILE *list, const char *path, const char *other)
{
	cleanup_free char *line = NULL;
	size_t room = 0;
	ssize_t length;

	while ((length = getline(&line, &room, list)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (!strcmp(line, path) || !strcmp(line, other))
			return true;
	}
	return false;
}

/* Returns libc6 for "libc6:amd64.list". name has room for it. */
static bool package_name(const char *file, char name[PACKAGE_BYTES])
{
	size_t length = strlen(file), end = strcspn(file, ":");

	if (!text_ends_in(file, SUFFIX))
		return false;
	if (end == length)
		end -= strlen(SUFFIX);
	return (size_t)snprintf(name, PACKAGE_BYTES, "%.*s", (int)end, file) < PACKAGE_BYTES;
}

bool package_of(const char *lists, const char *path, char name[PACKAGE_BYTES])
{
	/* Before /lib became a link to /usr/lib, packages listed their files there. */
	const char *other = strncmp(path, "/usr/", strlen("/usr/")) ? path : path + strlen("/usr");
	cleanup_free char *found = malloc(PACKAGE_BYTES);
	DIR *folder = opendir(lists);
	struct dirent *entry;
	bool good = false;

	while (folder && found && !good && (entry = readdir(folder))) {
		cleanup_file FILE *list = NULL;
		int fd;

		if (!package_name(entry->d_name, found))
			continue;
		fd = regular_file_open_at(dirfd(folder), entry->d_name, NULL);
		list = fd < 0 ? NULL : fdopen(fd, "r");
		good = list && has_path(list, path, other);
	}
	if (folder)
		closedir(folder);
	if (good)
		strcpy(name, found);
	return good;
}

/* Whether a file has these bytes. Reads overlapping parts, and closes the file. */
static bool has_bytes(int file, const char *bytes, size_t length)
{
	enum { PART_BYTES = 1 << 16 };
	cleanup_free char *part = malloc(PART_BYTES);
	cleanup_fd int fd = file;
	size_t kept = 0;
	bool good = false;
	ssize_t got;

	while (part && fd >= 0 && !good && (got = read(fd, part + kept, PART_BYTES - kept)) > 0) {
		kept += (size_t)got;
		good = memmem(part, kept, bytes, length);
		if (kept < length)
			continue;
		memmove(part, part + kept - (length - 1), length - 1);
		kept = length - 1;
	}
	return good;
}

bool package_can_be_had(const char *root, const char *name)
{
	char path[PATH_MAX], cached[PACKAGE_BYTES + 2] = "", listed[PACKAGE_BYTES + 16];
	size_t length = (size_t)snprintf(cached + 1, PACKAGE_BYTES, "%s", name) + 2;
	struct dirent *entry;
	bool good = false;
	DIR *folder;

	/* In the cache, strings are between zeros, after a length of two bytes. */
	if (has_bytes(regular_file_open(root, "/var/cache/apt/pkgcache.bin", NULL), cached, length))
		return true;
	snprintf(listed, sizeof(listed), "Package: %s\n", name);
	snprintf(path, sizeof(path), "%s/var/lib/apt/lists", root);
	folder = opendir(path);
	while (folder && !good && (entry = readdir(folder)))
		good = text_ends_in(entry->d_name, "_Packages") &&
		       has_bytes(regular_file_open_at(dirfd(folder), entry->d_name, NULL), listed,
				 strlen(listed));
	if (folder)
		closedir(folder);
	return good;
}

/*
 * Finds the package with a file's debug symbols, as Debian and its derivatives name it. false, with
 * name unchanged: the file is not this host's, or in no package, or apt does not know the debug
 * package.
 */
static bool debug_package(const struct profile_object *file, char name[PACKAGE_BYTES])
{
	char package[PACKAGE_BYTES], found[PACKAGE_BYTES];
	int fd;

	if (!package_of(DPKG_LISTS, file->path, package))
		return false;
	/* A container has other packages, with other build ids. */
	fd = object_file_here(file, NULL);
	if (fd < 0)
		return false;
	close(fd);
	/* glibc's package is made by hand, and named as before 2015. */
	if (!strcmp(package, "libc6"))
		snprintf(found, sizeof(found), "libc6-dbg");
	else
		snprintf(found, sizeof(found), "%.100s-dbgsym", package);
	/* Debian has them in a separate archive, which few hosts use. */
	if (!package_can_be_had("", found))
		return false;
	strcpy(name, found);
	return true;
}

/* Below this share of all ticks, missing names need no note. */
#define WORTH_PERCENT 10

void nameless_add(struct nameless *nameless, const struct profile *profile, uint32_t object,
		  uint64_t ticks, uint64_t unnamed)
{
	enum profile_object_kind kind = profile->objects[object].kind;
	struct nameless_kind *sum = kind == PROFILE_JIT ? &nameless->jit : &nameless->files;

	nameless->named += ticks;
	if (!unnamed || (kind != PROFILE_JIT && kind != PROFILE_FILE))
		return;
	sum->ticks += unnamed;
	sum->nr_objects++;
	if (unnamed <= sum->most)
		return;
	sum->most = unnamed;
	sum->object = object;
}

static double share(const struct nameless *nameless, const struct nameless_kind *kind)
{
	return 100 * (double)kind->ticks / (double)nameless->named;
}

static bool has_worth(const struct nameless *nameless, const struct nameless_kind *kind)
{
	return kind->ticks && share(nameless, kind) > WORTH_PERCENT;
}

/* Returns " and 3 others", or "". */
static const char *others(const struct nameless_kind *kind, char *text, size_t room)
{
	*text = '\0';
	if (kind->nr_objects > 1)
		snprintf(text, room, " and %zu other%s", kind->nr_objects - 1,
			 kind->nr_objects > 2 ? "s" : "");
	return text;
}

bool nameless_is_of_files(const char *note)
{
	return !strncmp(note, NOTE_NAMELESS_FUNCTIONS, strlen(NOTE_NAMELESS_FUNCTIONS));
}

enum { ADVICE_BYTES = 160 };

/* How to make a runtime write the names of its code. Objects have names like [node:77]. */
static const char *advice(const char *object, char text[ADVICE_BYTES])
{
	if (!strncmp(object, "[node:", strlen("[node:")))
		return "node --perf-basic-prof writes them";
	if (strncmp(object, "[java:", strlen("[java:")) != 0)
		return "/tmp/perf-PID.map has them if the program writes it";
	/*
	 * From JDK 17 on. If a JVM is profiled by its pid, it still runs when names are read.
	 * Therefore a map that it writes at its end is too late.
	 */
	snprintf(text, ADVICE_BYTES,
		 "jcmd %.*s Compiler.perfmap before the profile ends, or java "
		 "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit, writes them",
		 (int)strspn(object + strlen("[java:"), "0123456789"), object + strlen("[java:"));
	return text;
}

static int note_code(const struct nameless *nameless, struct profile *profile)
{
	const struct nameless_kind *jit = &nameless->jit;
	const char *path = profile->objects[jit->object].path;
	char more[48], text[ADVICE_BYTES];

	return profile_note(profile,
			    NOTE_NAMELESS_CODE "%s%s" NOTE_SHARE
					       "%.1f%% of the ticks" NOTE_AFTER_CODE "%s",
			    path, others(jit, more, sizeof(more)), share(nameless, jit),
			    advice(path, text));
}

static int note_files(const struct nameless *nameless, bool look, struct profile *profile)
{
	const struct nameless_kind *files = &nameless->files;
	const struct profile_object *file = &profile->objects[files->object];
	char more[48], package[PACKAGE_BYTES] = "its debug symbols, or build it with them";
	/* If the file was opened, its text is known. */
	bool opened = file->nr_text || file->build_id;
	const char *unopened = "gone before it could be opened";

	if (nameless->denied)
		unopened = "gone, or not ours to open: CAP_SYS_PTRACE opens it (of a container: "
			   "--cap-add SYS_PTRACE)";
	if (!strcmp(file->path, "[vdso32]"))
		unopened = "only 64-bit programs' vDSO is read";
	if (look && opened)
		debug_package(file, package);
	return profile_note(profile,
			    NOTE_NAMELESS_FUNCTIONS
			    "%s%s" NOTE_SHARE "%.1f%% of the ticks" NOTE_AFTER_FUNCTIONS "%s%s",
			    file->path, others(files, more, sizeof(more)), share(nameless, files),
			    opened ? "install " : unopened, opened ? package : "");
}

int nameless_note(const struct nameless *nameless, bool look, struct profile *profile)
{
	int ret = 0;

	if (has_worth(nameless, &nameless->jit))
		ret = note_code(nameless, profile);
	if (!ret && has_worth(nameless, &nameless->files))
		ret = note_files(nameless, look, profile);
	return ret;
}
