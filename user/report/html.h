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
 * A page that needs nothing else: no network, no other file. Its code, style and the data, as JSON
 * in which no byte can end the element it stands in, are all in it; the sources of the code and the
 * style are in report/html.
 */

struct html_options {
	uint64_t functions; /* how many are there with their instructions: the hottest */
	struct timeline *timeline; /* the files that the profile is the sum of, for a map; or NULL */
	bool inlined; /* a table of functions as the source has them, too */
	const char *symfs; /* folder that the objects' files are below; NULL: where they were */
	const char *source; /* folder to look for source files in, too; or NULL */
	enum disasm_syntax syntax;
};

/*
 * 0, or -ENOMEM with err filled. Whether out took it all is the caller's to see (ferror). A function
 * whose code cannot be read is there with the reason.
 */
int html_report(const struct profile *profile, const struct html_options *options, FILE *out,
		struct error *err);

/* The same for a comparison: a table of all its rows. */
int html_diff(const struct diff *diff, FILE *out, struct error *err);

#endif
