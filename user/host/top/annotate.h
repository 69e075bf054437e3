/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TOP_ANNOTATE_H
#define BPFPROFIL_TOP_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"
#include "symbol/functions.h"
#include "host/top/model.h"

struct top_annotate_options {
	const struct profile *last; /* has the row's object, and the id for the opener */
	const struct object_opener *opener;
	bool hot; /* hottest first */
	bool color;
	unsigned int width;
};

/*
 * Writes the instructions of a function with all its ticks so far, as report writes them. -ENOENT:
 * its object had no tick in the last profile, so its file cannot be opened.
 */
int top_annotate(const struct top_model *model, const struct top_row *function,
		 const struct top_annotate_options *options, FILE *out, struct error *err);

#endif
