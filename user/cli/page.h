/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLI_PAGE_H
#define BPFPROFIL_CLI_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "option/opts.h"

/* The arguments for a page; file NULL: no page. */
struct page_arguments {
	const char *file;
	bool open; /* open it in a browser after it is written */
};

/* The group for a command's table; offset is that of struct page_arguments. */
extern const struct opt page_opts[];

#define PAGE_GROUP(offset)                                                                         \
	{                                                                                          \
		.title = "Page", .opts = page_opts, .base = (offset)                               \
	}

/*
 * Whether the options fit together; if not, a message is printed, and the exit status must be
 * EXIT_USAGE.
 */
bool page_check(const char *command, const struct page_arguments *arguments);

/*
 * --html FILE of a command: what put() writes becomes FILE, completely or not at all; if it is
 * confidential only its owner may read it. Returns the exit status after printing any message.
 */
int write_page(const struct page_arguments *arguments, bool confidential,
	       int (*put)(const void *of, FILE *out, struct error *err), const void *of);

#endif
