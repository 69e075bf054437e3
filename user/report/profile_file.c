// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/profile_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/output.h"
#include "base/text.h"
#include "base/util.h"
#include "profile/profile_io.h"
#include "profile/profile_merge.h"
#include "symbol/debug_server.h"
#include "naming/object_file.h"
#include "symbol/symbol_cache.h"

static const char *files_root = ""; /* root folder of programs and libraries */

void profile_files_below(const char *root)
{
	files_root = root;
}

/*
 * serve opens no files of its users, and its record of calls has no names: look them up here.
 * Names that other profiles lack are looked up too, if the files are still those that ran. Symbol
 * servers are not contacted, because the user only asked for a table.
 */
static int load_named(const char *path, struct symbol_cache *cache, struct profile **result,
		      struct error *err)
{
	struct path_opener paths = { .root = files_root };
	const struct object_opener opener = path_opener(&paths);
	struct object_opener same = same_file_opener(&paths);
	int ret = profile_load(path, result, err);

	if (ret)
		return ret;
	paths.profile = *result;
	if (!(*result)->nr_functions && (*result)->nr_targets &&
	    profile_target_is_call(&(*result)->targets[0])) {
		ret = functions_resolve(*result, &opener, err);
	} else {
		same.cache = cache;
		debug_server_quiet(true);
		ret = functions_resolve_rest(*result, &same, err);
		debug_server_quiet(false);
	}
	if (ret) {
		profile_free(*result);
		*result = NULL;
	}
	return ret;
}

void file_names_free(struct file_names *names)
{
	free_all(names->names, names->nr);
}

static int add_name(struct file_names *names, const char *folder, const char *name,
		    struct error *err)
{
	char *path = format_text("%s%s%s", folder ? folder : "", folder ? "/" : "", name);

	if (path && !PUSH(names->names, names->capacity, names->nr, path))
		return 0;
	free(path);
	return error_errno(err, -ENOMEM, "%s", name);
}

/*
 * Profiles of run and attach have such names. A name that begins with a dot is still being written.
 */
static int is_profile(const struct dirent *entry)
{
	return *entry->d_name != '.' &&
	       (text_ends_in(entry->d_name, ".json") || text_ends_in(entry->d_name, ".json.gz"));
}

static int add_folder(struct file_names *names, const char *folder, struct error *err)
{
	struct dirent **entries;
	int nr = scandir(folder, &entries, is_profile, alphasort), i, ret = 0;

	if (nr < 0)
		return error_errno(err, -errno, "%s", folder);
	for (i = 0; !ret && i < nr; i++)
		ret = add_name(names, folder, entries[i]->d_name, err);
	free_all(entries, (size_t)nr);
	if (!nr)
		ret = error_set(err, -ENOENT, "%s: no *.json or *.json.gz in this folder", folder);
	return ret;
}

int file_names_of(int nr, char *const *operands, struct file_names *names, struct error *err)
{
	struct stat stat_buffer;
	int ret = 0, i;

	for (i = 0; i < nr && !ret; i++) {
		if (!stat(operands[i], &stat_buffer) && S_ISDIR(stat_buffer.st_mode))
			ret = add_folder(names, operands[i], err);
		else
			ret = add_name(names, NULL, operands[i], err);
	}
	return ret;
}

/* Files of a sum that have callers or waits, and those that lack them. */
struct part_files {
	struct {
		const char *first; /* the first of these */
		size_t nr;
	} with, without;
};

static void count_file(struct part_files *files, const char *name, bool has, bool lacks)
{
	if (has && !files->with.nr++)
		files->with.first = name;
	if (lacks && !files->without.nr++)
		files->without.first = name;
}

/* Adds a note on which files have them, if not all do. */
static int note_files(struct profile *sum, const char *what, const struct part_files *files)
{
	const size_t with = files->with.nr, without = files->without.nr;
	const bool few = with <= without;

	if (!with || !without)
		return 0;
	return profile_note(sum, "%s: %zu of %zu files have them, %s%s%s", what, with,
			    with + without, few ? "" : "all but ",
			    few ? files->with.first : files->without.first,
			    (few ? with : without) > 1 ? " and others" : "");
}

/* Reads, adds and frees one profile at a time. timeline: NULL if not wanted. */
static int add_up(const struct file_names *names, struct timeline *timeline,
		  struct profile **result, struct error *err)
{
	struct profile_merger merger = { .drops_callers = true };
	struct part_files callers = { 0 }, waits = { 0 };
	struct symbol_cache *cache = symbol_cache_new(SYMBOL_CACHE_BYTES);
	struct profile *part;
	int ret = 0;
	size_t i;

	for (i = 0; i < names->nr && !ret; i++) {
		if (cache)
			symbol_cache_age(cache);
		ret = load_named(names->names[i], cache, &part, err);
		if (ret)
			break;
		count_file(&callers, names->names[i], part->callers, profile_lacks_callers(part));
		count_file(&waits, names->names[i], part->waits, profile_lacks_waits(part));
		if (timeline)
			ret = timeline_add(timeline, part, names->names[i], err);
		if (ret)
			profile_free(part);
		else
			ret = profile_merger_add(&merger, part, names->names[i], err);
	}
	if (!ret)
		ret = profile_merger_finish(&merger, result, err);
	if (!ret && (note_files(*result, "callers are left out", &callers) ||
		     note_files(*result, "waits are incomplete", &waits))) {
		profile_free(*result);
		*result = NULL;
		ret = error_errno(err, -ENOMEM, "report");
	}
	profile_merger_free(&merger);
	symbol_cache_free(cache);
	if (timeline)
		timeline_sort(timeline);
	return ret;
}

int profile_of_name(char *name, struct profile **result, struct error *err)
{
	struct file_names names = { 0 };
	int ret = file_names_of(1, &name, &names, err);

	if (!ret && names.nr == 1)
		ret = load_named(names.names[0], NULL, result, err);
	else if (!ret)
		ret = add_up(&names, NULL, result, err);
	file_names_free(&names);
	return ret;
}

struct profile *profile_of_operand(const struct command *command, int nr, char **operands,
				   int *ret_status)
{
	static char by_default[] = PROFILE_FILE_DEFAULT;
	struct profile *profile;
	struct error err = { 0 };
	int ret;

	if (nr > 1) {
		print_message("bpfprofil merge -o sum.json FILE...",
			      "%s: one FILE, not also '%.128s'", command->name, operands[1]);
		*ret_status = EXIT_USAGE;
		return NULL;
	}
	ret = profile_of_name(nr ? operands[0] : by_default, &profile, &err);
	if (!ret)
		return profile;
	if (ret == -ENOENT && !nr && !err.hint[0])
		error_hint(&err, "sudo bpfprofil run COMMAND");
	print_error(&err);
	*ret_status = EXIT_FAILURE;
	return NULL;
}

struct profile *profile_of_operands(const struct command *command, int nr, char **operands,
				    bool separate, struct timeline *timeline, int *ret_status)
{
	static char *const by_default[] = { PROFILE_FILE_DEFAULT };
	struct profile *profile = NULL;
	struct file_names names = { 0 };
	struct error err = { 0 };

	*ret_status = EXIT_FAILURE;
	if (file_names_of(nr ? nr : 1, nr ? operands : (char **)by_default, &names, &err))
		print_error(&err);
	else if (names.nr == 1 && !separate)
		profile = profile_of_operand(command, nr ? 1 : 0, names.names, ret_status);
	else if (add_up(&names, timeline, &profile, &err))
		print_error(&err);
	file_names_free(&names);
	return profile;
}
