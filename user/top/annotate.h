/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_ANNOTATE_H
#define BPFPROFIL_TOP_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"
#include "symbol/functions.h"
#include "top/model.h"

struct top_annotate_options {
	const struct profile *last; /* with the row's object; names it for the opener */
	const struct object_opener *opener;
	bool hot; /* hottest first */
	bool color;
	unsigned int width;
};

/*
 * The instructions of a function with all their ticks so far, as report writes them. -ENOENT: its
 * object had no tick in the last profile, so that there is no file of it at hand.
 */
int top_annotate(const struct top_model *model, const struct top_row *function,
		 const struct top_annotate_options *options, FILE *out, struct error *err);

#endif
