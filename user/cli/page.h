/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLI_PAGE_H
#define BPFPROFIL_CLI_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/opts.h"

/* Of a page that is asked for; file NULL: none is. */
struct page_arguments {
	const char *file;
	bool open; /* in a browser, when it is written */
};

/* The group to put into a command's table; offset is where the struct page_arguments sits. */
extern const struct opt page_opts[];

#define PAGE_GROUP(offset)                                                                         \
	{                                                                                          \
		.title = "Page", .opts = page_opts, .base = (offset)                               \
	}

/* Whether what is asked for goes together; if not, it is said, and the status is EXIT_USAGE. */
bool page_check(const char *command, const struct page_arguments *arguments);

/*
 * --html FILE of a command: what put() writes becomes FILE, whole or not at all, and when it is
 * confidential its owner's only. Returns the exit status, with the message printed.
 */
int write_page(const char *command, const struct page_arguments *arguments, bool confidential,
	       int (*put)(const void *of, FILE *out, struct error *err), const void *of);

#endif
