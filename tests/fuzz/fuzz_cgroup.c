// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Any bytes as /proc/self/mountinfo, /proc/cgroups, /proc/PID/cgroup and a typed path, separated by
 * zero bytes: only directories that exist may be found. A '~' becomes the folder that contains all
 * of it, and an '@' its device, because otherwise every line would be about another file system.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bytes.h"
#include "host/targets/cgroups.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { SKIPPED = 77, PID = 7 };

static const char *const files[] = { "proc/self/mountinfo", "proc/cgroups", "proc/7/cgroup" };
static const char *const folders[] = { "",   "proc", "proc/self", "proc/7",
				       "cg", "cg/a", "cg/a/b",	  "v1" };
static char folder[] = "/dev/shm/bpfprofil-fuzz-XXXXXX";
static char device[32];
static pid_t owner;

/* Valid until the next call. */
static const char *in_folder(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void remove_folder(void)
{
	size_t i;

	if (getpid() != owner)
		return;
	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		unlink(in_folder(files[i]));
	for (i = sizeof(folders) / sizeof(*folders); i--;)
		rmdir(in_folder(folders[i]));
}

/* Uses a file system of its own, so that a walk that a line leads astray stays inside. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct stat status;
	size_t i;

	(void)argc;
	(void)argv;
	if (!mkdtemp(folder)) {
		fprintf(stderr, "no /dev/shm\n");
		exit(SKIPPED);
	}
	owner = getpid();
	atexit(remove_folder);
	for (i = 1; i < sizeof(folders) / sizeof(*folders); i++)
		fuzz_check(!mkdir(in_folder(folders[i]), 0700), "a folder");
	fuzz_check(!stat(folder, &status), "the folder");
	snprintf(device, sizeof(device), "%u:%u", major(status.st_dev), minor(status.st_dev));
	return 0;
}

static void write_text(FILE *file, const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (text[i] == '@')
			fputs(device, file);
		else if (text[i] == '~')
			fputs(folder, file);
		else
			fputc(text[i], file);
	}
}

static void write_file(const char *name, const char *text, size_t size)
{
	FILE *file = fopen(in_folder(name), "we");

	fuzz_check(file != NULL, name);
	write_text(file, text, size);
	fuzz_check(!fclose(file), name);
}

static bool any(const char *name, const void *wanted)
{
	(void)wanted;
	return *name;
}

static void check_places(struct cgroup_places *places, const struct cgroups *cgroups)
{
	size_t i;

	for (i = 0; i < places->nr; i++) {
		fuzz_check(cgroup_place_is_there(&places->list[i]), "a place is there");
		fuzz_check(cgroup_places_in(places, places->list[i].mount->hierarchy) != NULL,
			   "a place is in its hierarchy");
		fuzz_check(places->list[i].mount >= cgroups->list &&
				   places->list[i].mount < cgroups->list + cgroups->nr,
			   "a place is in a mount");
	}
	cgroup_places_keep_populated(places);
	cgroup_places_free(places);
}

static void look(const struct cgroups *cgroups, const char *path)
{
	struct cgroup_places places = { 0 };
	struct error err = { "", "" };
	size_t i;

	for (i = 0; i < cgroups->nr; i++)
		fuzz_check(cgroups->list[i].hierarchy <= i && *cgroup_mount_name(&cgroups->list[i]),
			   "a mount is of a hierarchy");
	cgroup_places_add_process(&places, cgroups, PID);
	check_places(&places, cgroups);
	cgroup_places_add_each(&places, cgroups, path);
	cgroup_places_add_directory(&places, cgroups, path);
	check_places(&places, cgroups);
	if (cgroup_places_find(&places, cgroups, any, NULL, &err))
		fuzz_check_refusal(&err);
	check_places(&places, cgroups);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	struct error err = { "", "" };
	struct cgroups cgroups;
	struct fuzz_text path;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		size_t length = strnlen(at, (size_t)(end - at));

		write_file(files[i], at, length);
		at += length + (at + length < end);
	}
	write_text(fuzz_text_begin(&path), at, strnlen(at, (size_t)(end - at)));
	fuzz_text_end(&path);
	if (cgroups_read(&cgroups, in_folder("proc"), &err)) {
		fuzz_check_refusal(&err);
	} else {
		look(&cgroups, path.text);
		cgroups_free(&cgroups);
	}
	fuzz_text_free(&path);
	return 0;
}
