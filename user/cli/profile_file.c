// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cli/profile_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/profile_io.h"
#include "record/output.h"

void print_command_error(const char *command, const struct error *err)
{
	print_message(err->hint[0] ? err->hint : NULL, "%s: %.480s", command, err->text);
}

struct profile *profile_of_operand(const struct command *command, int nr, char **operands,
				   int *ret_status)
{
	struct profile *profile;
	struct error err = { 0 };
	char hint[64];
	int result;

	if (nr > 1) {
		snprintf(hint, sizeof(hint), "bpfprofil %s --help", command->name);
		print_message(hint, "%s: one FILE, not also '%.128s'", command->name, operands[1]);
		*ret_status = EXIT_USAGE;
		return NULL;
	}
	result = profile_load(nr ? operands[0] : PROFILE_FILE_DEFAULT, &profile, &err);
	if (!result)
		return profile;
	if (result == -ENOENT && !nr && !err.hint[0])
		error_hint(&err, "sudo bpfprofil run COMMAND");
	print_command_error(command->name, &err);
	*ret_status = EXIT_FAILURE;
	return NULL;
}
