// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cli/export_files.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/profile_file.h"
#include "record/output.h"

/*
 * Length of an object's name in a file name, which leaves room for the rest and for a temporary
 * name.
 */
#define BASE_MAX 200

struct export_files {
	const struct export_format *format;
	const struct profile *profile;
	struct export_options options;
	const char *folder;
	size_t nr;
	uint64_t ticks; /* ticks of the hottest object that has a file */
	uint32_t hottest;
	uint64_t without; /* ticks of objects that have none */
};

/* The profile may be from another host, where names may contain anything. */
static void clean_base(const struct profile_object *object, char base[BASE_MAX])
{
	char *c;

	snprintf(base, BASE_MAX, "%s", profile_object_base(object));
	for (c = base; *c; c++)
		if ((unsigned char)*c < ' ' || *c == '/' || *c == '%' || *c == 0x7f)
			*c = '_';
}

/* If an earlier object has the same name, the object's index in the profile is added. */
static void name_file(const struct export_files *files, uint32_t object, char *path, size_t size)
{
	char base[BASE_MAX], other[BASE_MAX], part[BASE_MAX + 16], name[NAME_MAX + 1];
	uint32_t i;

	clean_base(&files->profile->objects[object], base);
	snprintf(part, sizeof(part), "%s", base);
	for (i = 0; i < object; i++) {
		clean_base(&files->profile->objects[i], other);
		if (!strcmp(base, other) && export_has_file(files->profile, &files->options, i))
			snprintf(part, sizeof(part), "%s.%" PRIu32, base, object);
	}
	snprintf(name, sizeof(name), "%s.%s.out", files->format->name, part);
	snprintf(path, size, "%s/%s", files->folder, name);
}

static int write_file(struct export_files *files, uint32_t object, struct error *err)
{
	char path[PATH_MAX];
	struct output *out;
	int ret;

	files->options.file_object = object;
	name_file(files, object, path, sizeof(path));
	ret = output_open_as(
		path, profile_is_confidential(files->profile) ? OUTPUT_CONFIDENTIAL : 0, &out, err);
	if (ret)
		return ret;
	ret = files->format->write(files->profile, &files->options, output_stream(out), err);
	return output_finish(out, ret, err);
}

static int write_files(struct export_files *files, struct error *err)
{
	uint64_t ticks;
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < files->profile->nr_objects; i++) {
		ticks = export_ticks(files->profile, &files->options, i);
		if (!export_has_file(files->profile, &files->options, i)) {
			files->without += ticks;
			continue;
		}
		if (ticks > files->ticks) {
			files->ticks = ticks;
			files->hottest = i;
		}
		files->nr++;
		ret = write_file(files, i, err);
	}
	return ret;
}

/* Says how to read the hottest of them. */
static void say_files(const struct export_files *files)
{
	const char *program = files->profile->objects[files->hottest].path;
	char path[PATH_MAX], hint[256], without[80] = "";

	name_file(files, files->hottest, path, sizeof(path));
	snprintf(hint, sizeof(hint), "gprof -b %.100s %.120s", program, path);
	if (files->without)
		snprintf(without, sizeof(without), "; %" PRIu64 " ticks are in no file of text",
			 files->without);
	print_message(hint, "export: %zu file%s in %s%s", files->nr, files->nr == 1 ? "" : "s",
		      files->folder, without);
	if (files->options.note[0])
		print_message(NULL, "export: %s", files->options.note);
}

static int make_folder(const char *folder, struct error *err)
{
	return mkdir(folder, 0777) && errno != EEXIST ? error_errno(err, -errno, "%s", folder) : 0;
}

int export_files(const struct export_format *format, const struct profile *profile,
		 const struct export_options *options, const char *folder)
{
	struct export_files files = { .format = format,
				      .profile = profile,
				      .options = *options,
				      .folder = folder ? folder : "." };
	struct error err = { 0 };

	if (!strcmp(files.folder, "-")) {
		print_message("-o FOLDER", "export: --output '-': %s has a file for each object",
			      format->name);
		return EXIT_USAGE;
	}
	if (export_check(profile, options, format->name, &err) || make_folder(files.folder, &err) ||
	    write_files(&files, &err)) {
		print_error(&err);
		return EXIT_FAILURE;
	}
	if (!files.nr) {
		print_message(NULL, "export: %s: no tick is in an object that has a file",
			      format->name);
		return EXIT_FAILURE;
	}
	say_files(&files);
	return EXIT_SUCCESS;
}
