/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HTML_H
#define BPFPROFIL_HTML_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"
#include "report/diff.h"
#include "report/timeline.h"
#include "symbol/disasm.h"

/*
 * A page that needs nothing else, neither network nor other files: it contains its code, its style
 * and its data, as JSON in which no byte can end the element around it. The sources of the code and
 * the style are in report/html.
 */

struct html_options {
	uint64_t functions; /* how many have their instructions in the page: the hottest */
	struct timeline *timeline; /* the files that were added up, for a map over time; or NULL */
	bool inlined; /* also a table of functions as in the source */
	const char *symfs; /* folder that has the objects' files; NULL: at their own paths */
	const char *source; /* another folder with source files; or NULL */
	enum disasm_syntax syntax;
};

/*
 * Returns 0, or -ENOMEM with err filled in. The caller checks ferror(out). A function whose code
 * cannot be read is shown with the reason.
 */
int html_report(const struct profile *profile, const struct html_options *options, FILE *out,
		struct error *err);

/* The same for a comparison: a table of all its rows. */
int html_diff(const struct diff *diff, FILE *out, struct error *err);

#endif
