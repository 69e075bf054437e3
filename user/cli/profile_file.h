/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_FILE_H
#define BPFPROFIL_PROFILE_FILE_H

#include "base/error.h"
#include "cli/command.h"
#include "profile/profile.h"
#include "report/timeline.h"

#define PROFILE_FILE_DEFAULT "bpfprofil.json"

/*
 * The profile that [FILE] names. NULL: the reason is printed and *ret_status is the exit status.
 * The caller frees it with profile_free().
 */
struct profile *profile_of_operand(const struct command *command, int nr, char **operands,
				   int *ret_status);

/*
 * The profiles that [FILE...] name, added up; a folder names those in it. When they are several, or
 * apart is true, timeline, which is empty before, has each of them; the caller frees it anyway.
 */
struct profile *profile_of_operands(const struct command *command, int nr, char **operands,
				    bool apart, struct timeline *timeline, int *ret_status);

/* print_error() with "COMMAND: " before the text. */
void print_command_error(const char *command, const struct error *err);

#endif
