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
 * A self-contained page: it includes its code, style and data, and needs neither network nor other
 * files. The data is JSON that cannot end the element around it. The sources of code and style are
 * in report/html.
 */

struct html_options {
	uint64_t functions; /* how many of the hottest functions have instructions in the page */
	struct timeline *timeline; /* the files of a sum, for a map over time; or NULL */
	bool inlined; /* also a table of functions as written in the source */
	const char *symfs; /* folder with the objects' files; NULL: their own paths */
	const char *source; /* another folder with source files; or NULL */
	enum disasm_syntax syntax;
};

/*
 * Returns 0, or -ENOMEM with err filled in. The caller checks ferror(out). If a function's code
 * cannot be read, the page shows the reason.
 */
int html_report(const struct profile *profile, const struct html_options *options, FILE *out,
		struct error *err);

/* Does the same for a comparison: a table of all its rows. */
int html_diff(const struct diff *diff, FILE *out, struct error *err);

#endif
