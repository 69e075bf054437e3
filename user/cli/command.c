// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bpfprofil/version.h"
#include "feature/features.h"
#include "record/output.h"

const struct command *const commands[] = { &command_run,	&command_attach,
					   &command_top,	&command_report,
					   &command_export,	&command_diff,
					   &command_merge,	&command_agent,
					   &command_serve,	&command_bin,
					   &command_bench,	&command_doctor,
					   &command_completion, NULL };

#define HELP_WIDTH 80

const struct command *command_find(const char *name)
{
	size_t i;

	for (i = 0; commands[i]; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

int command_print_version(void)
{
	struct utsname host = { 0 };

	stdout_begin();
	uname(&host);
	printf("bpfprofil %s\nlibbpf %s\nkernel %s %s %s\n", BPFPROFIL_VERSION,
	       features_libbpf_version(), host.sysname, host.release, host.machine);
	return stdout_end("standard output");
}

int command_print_help(const struct command *command)
{
	unsigned int width = terminal_width(stdout);

	print_as(command->name);
	stdout_begin();
	opts_help(command, stdout, width && width < 100 ? width : HELP_WIDTH);
	return stdout_end("standard output");
}

bool command_parse(const struct command *command, int argc, char **argv, void *options,
		   int *ret_first, int *ret_status)
{
	struct opts_parsed parsed;
	struct error err = { 0 };
	int ret;

	print_as(command->name);
	ret = opts_parse(command, argc, argv, options, &parsed, &err);
	if (ret) {
		print_error(&err);
		*ret_status = ret == -ENOMEM ? EXIT_FAILURE : EXIT_USAGE;
		return false;
	}
	if (parsed.help || parsed.version) {
		*ret_status = parsed.help ? command_print_help(command) : command_print_version();
		return false;
	}
	color_set(parsed.color);
	*ret_first = parsed.first;
	return true;
}
