// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* All commands, each from the folder that does its work. */
#include "option/command.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/output.h"
#include "bpfprofil/version.h"
#include "host/feature/features.h"

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

int command_print_version(void)
{
	struct utsname host = { 0 };

	stdout_begin();
	uname(&host);
	printf("bpfprofil %s\nlibbpf %s\nkernel %s %s %s\n", BPFPROFIL_VERSION,
	       features_libbpf_version(), host.sysname, host.release, host.machine);
	return stdout_end("standard output");
}
