// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/opener.h"
#include "base/output.h"
#include "bpfprofil/version.h"
#include "host/engine/stack_copies.h"
#include "host/feature/features.h"
#include "option/command.h"
#include "option/opts.h"
#include "reader/reader.h"

#define COMMANDS_MAX 32

static void write_overview(FILE *out)
{
	size_t i;

	fprintf(out, "Usage: bpfprofil COMMAND [OPTIONS] [ARGUMENT]...\n"
		     "       bpfprofil help COMMAND\n"
		     "       bpfprofil --version\n\n"
		     "Shows where programs spend their CPU time. A BPF program counts samples per\n"
		     "instruction in the kernel.\n\n"
		     "Commands:\n");
	for (i = 0; commands[i]; i++)
		fprintf(out, "  %-10s  %s\n", commands[i]->name, commands[i]->summary);
	fprintf(out, "\nExamples:\n"
		     "  # profile a command, see the hottest functions\n"
		     "  sudo bpfprofil run gzip -k big.log\n"
		     "  # look again, by source line\n"
		     "  bpfprofil report --by lines\n"
		     "\nThe manual: man bpfprofil\n");
}

static int unknown(const char *kind, const char *word)
{
	const char *words[COMMANDS_MAX + 1] = { 0 }, *nearest;
	char hint[64] = "bpfprofil --help";
	size_t i;

	for (i = 0; i < COMMANDS_MAX && commands[i]; i++)
		words[i] = commands[i]->name;
	nearest = *word == '-' ? NULL : nearest_word(word, words);
	if (meant_by_command(word))
		snprintf(hint, sizeof(hint), "%s", meant_by_command(word));
	else if (nearest)
		snprintf(hint, sizeof(hint), "bpfprofil %s", nearest);
	return usage_error(hint, "unknown %s '%.128s'", kind, word);
}

static int help(const char *name)
{
	const struct command *command;

	if (!name) {
		stdout_begin();
		write_overview(stdout);
		return stdout_end("standard output");
	}
	command = command_find(name);
	return command ? command_print_help(command) : unknown("command", name);
}

static int print_version(void)
{
	struct utsname host = { 0 };

	stdout_begin();
	uname(&host);
	printf("bpfprofil %s\nlibbpf %s\nkernel %s %s %s\n", BPFPROFIL_VERSION,
	       features_libbpf_version(), host.sysname, host.release, host.machine);
	return stdout_end("standard output");
}

/*
 * Otherwise a descriptor of ours would get the number of a standard stream that the caller closed,
 * and messages or the profile would go there. Nobody can read or write what O_PATH opens.
 */
static void fill_standard_streams(void)
{
	int fd;

	do
		fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	const struct command *command;

	fill_standard_streams();
	/*
	 * Use the locale only for the width of characters and the language of messages, and not for
	 * numbers.
	 */
	setlocale(LC_CTYPE, "");
	command_print_version = print_version;
	if (argc < 2) {
		write_overview(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(NULL);
	if (!strcmp(argv[1], "help"))
		return help(argv[2]);
	if (!strcmp(argv[1], "--version"))
		return print_version();
	if (!strcmp(argv[1], OPENER_COMMAND))
		return opener_serve();
	if (!strcmp(argv[1], STACKS_COMMAND))
		return stack_copies_serve();
	opener_enable();
	if (!strcmp(argv[1], READER_COMMAND))
		return reader_main(argc - 1, argv + 1);
	reader_enable();
	if (!strcmp(argv[1], "__complete"))
		return command_complete(argc - 2, argv + 2);
	command = command_find(argv[1]);
	if (!command)
		return unknown(*argv[1] == '-' ? "option" : "command", argv[1]);
	return command->run(argc - 1, argv + 1);
}
