// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* All commands. Each is in the folder that does its work. */
#include "option/command.h"

#include <string.h>

const struct command *const commands[] = { &command_run,
					   &command_attach,
					   &command_top,
					   &command_report,
					   &command_export,
					   &command_diff,
					   &command_merge,
					   &command_agent,
					   &command_serve,
					   &command_bin,
					   &command_doctor,
					   &command_completion,
					   NULL };

const struct command *command_find(const char *name)
{
	size_t i;

	for (i = 0; commands[i]; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}
