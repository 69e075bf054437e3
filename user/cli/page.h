/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLI_PAGE_H
#define BPFPROFIL_CLI_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/opts.h"

/* The group to put into a command's table; offset is where the name, a const char *, sits. */
extern const struct opt page_opts[];

#define PAGE_GROUP(offset)                                                                         \
	{                                                                                          \
		.title = "Page", .opts = page_opts, .base = (offset)                               \
	}

/*
 * --html FILE of a command: what put() writes becomes FILE, whole or not at all, and when it is
 * confidential its owner's only. Returns the exit status, with the message printed.
 */
int write_page(const char *command, const char *file, bool confidential,
	       int (*put)(const void *of, FILE *out, struct error *err), const void *of);

#endif
