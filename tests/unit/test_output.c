// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/output.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What print_error() writes for a text. */
static const char *said(const char *text)
{
	static char line[256];
	FILE *kept = stderr, *out = fmemopen(line, sizeof(line), "w");

	cr_assert(out);
	stderr = out;
	print_message(NULL, "%s", text);
	stderr = kept;
	fclose(out);
	return line;
}

/* The command is named once, whether or not the text begins with it. */
Test(output, errors_begin_with_the_command)
{
	cr_expect_str_eq(said("unknown command"), "bpfprofil: unknown command\n");
	print_as("run");
	cr_expect_str_eq(said("a: no such file"), "bpfprofil: run: a: no such file\n");
	cr_expect_str_eq(said("run: a: no such file"), "bpfprofil: run: a: no such file\n");
	cr_expect_str_eq(said("runner: gone"), "bpfprofil: run: runner: gone\n");
}
