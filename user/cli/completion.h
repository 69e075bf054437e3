/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_COMPLETION_H
#define BPFPROFIL_COMPLETION_H

#include <stdio.h>

#include "cli/command.h"

/*
 * The scripts by which shells complete: the options of all commands, from the tables that parsing
 * and --help read, and what is proposed for their values.
 */
void completion_bash(FILE *out);
void completion_zsh(FILE *out);
void completion_fish(FILE *out);

/* What of them does not depend on the options: user/completion. */
extern const char completion_bash_functions[];
extern const char completion_zsh_functions[];
extern const char completion_fish_functions[];

/* Writes text with a backslash before each character of special. */
void completion_escaped(FILE *out, const char *text, const char *special);

/* The same for between single quotes of bash and zsh. */
void completion_quoted(FILE *out, const char *text, const char *special);

#endif
