/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_VIEWER_H
#define BPFPROFIL_VIEWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "option/opts.h"

/*
 * Sends output with more lines than the terminal has rows through a pager, as git does:
 * $BPFPROFIL_PAGER, else $PAGER, else less. "cat" and "" mean no pager. Output to anything but a
 * terminal goes to standard output.
 */
struct pager {
	bool off; /* --no-pager */
	char *text; /* the output, until its length is known; NULL: output is written at once */
	size_t size;
};

/* The option --no-pager, for a command's table. offset is that of struct pager. */
#define PAGER_OPT(offset)                                                                          \
	OPT_FLAG("no-pager", (offset) + offsetof(struct pager, off),                               \
		 "no pager for more rows than the terminal has")

/* Returns the stream to write to. */
FILE *pager_begin(struct pager *pager);

/*
 * Ends the output. If result is not 0, none of it appears on a terminal. Returns the exit status as
 * stdout_end() does. Leaving the pager early is no failure.
 */
int pager_end(struct pager *pager, FILE *out, int result, const char *name);

/* The arguments for a page; file NULL: no page. */
struct page_arguments {
	const char *file;
	bool open; /* open it in a browser when it is written */
};

/* The group of options for a command's table. offset is that of struct page_arguments. */
extern const struct opt page_opts[];

#define PAGE_GROUP(offset)                                                                         \
	{                                                                                          \
		.title = "Page", .opts = page_opts, .base = (offset)                               \
	}

/*
 * Whether the options fit together. If not, it prints a message, and the exit status must be
 * EXIT_USAGE.
 */
bool page_check(const char *command, const struct page_arguments *arguments);

/*
 * --html FILE of a command: makes FILE from the output of put(), completely or not at all. If it is
 * confidential only its owner may read it. Prints a message on failure. Returns the exit status.
 */
int write_page(const struct page_arguments *arguments, bool confidential,
	       int (*put)(const void *of, FILE *out, struct error *err), const void *of);

#endif
