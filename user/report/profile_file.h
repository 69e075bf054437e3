/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_FILE_H
#define BPFPROFIL_PROFILE_FILE_H

#include "base/error.h"
#include "option/command.h"
#include "profile/profile.h"
#include "report/timeline.h"

#define PROFILE_FILE_DEFAULT "bpfprofil.json"

/* Names of files; each folder is replaced by the profiles in it. */
struct file_names {
	char **names;
	size_t nr;
	size_t capacity;
};

/* Returns 0 or a negative errno; call file_names_free() in any case. */
int file_names_of(int nr, char *const *operands, struct file_names *names, struct error *err);
void file_names_free(struct file_names *names);

/*
 * Sets the folder below which programs and libraries are looked up, for names that profiles lack.
 * root must outlive all calls.
 */
void profile_files_below(const char *root);

/* Loads the profile of a file, or the sum of those in a folder; the caller frees it. */
int profile_of_name(char *name, struct profile **result, struct error *err);

/*
 * Loads the profile named by [FILE]; the caller frees it with profile_free(). NULL: the reason was
 * printed, and *ret_status is the exit status.
 */
struct profile *profile_of_operand(const struct command *command, int nr, char **operands,
				   int *ret_status);

/*
 * Loads the sum of the profiles named by [FILE...], including those in folders. If there are
 * several, or if separate is true, each is added to timeline, which must be empty; the caller frees
 * it in any case.
 */
struct profile *profile_of_operands(const struct command *command, int nr, char **operands,
				    bool separate, struct timeline *timeline, int *ret_status);

#endif
