/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_VIEWER_H
#define BPFPROFIL_VIEWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "option/opts.h"

/*
 * Output with more lines than the terminal has rows goes through a pager, as in git:
 * $BPFPROFIL_PAGER, else $PAGER, else less. "cat" and "" mean no pager. Output to anything but a
 * terminal goes to standard output.
 */
struct pager {
	bool off; /* --no-pager */
	char *text; /* the output, until its length is known; NULL: it is written at once */
	size_t size;
};

/* The option --no-pager, for a command's table; offset is where struct pager sits. */
#define PAGER_OPT(offset)                                                                          \
	{                                                                                          \
		.name = "no-pager", .help = "no pager for more rows than the terminal has",        \
		.field = (offset) + offsetof(struct pager, off)                                    \
	}

/* Returns the stream to write to. */
FILE *pager_begin(struct pager *pager);

/*
 * Ends the output; if result is not 0, none of it is shown on a terminal. Returns the exit status as
 * stdout_end() does. Leaving the pager early is no failure.
 */
int pager_end(struct pager *pager, FILE *out, int result, const char *name);

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
