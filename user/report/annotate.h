/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_ANNOTATE_H
#define BPFPROFIL_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"
#include "report/report.h"
#include "report/annotation.h"
#include "symbol/disasm.h"
#include "naming/functions.h"

/*
 * Annotates a function: for each instruction, its ticks, its source line, and its jump target.
 * annotation_build() reads the profile and the files that ran, and prints nothing.
 * annotation_write() and the live view show the result.
 */

struct annotation_request {
	/* SYMBOL, OBJECT:SYMBOL, OBJECT:OFFSET (as report shows it) or FILE:LINE. */
	const char *place;
	const struct profile_function *function; /* a function of the profile, instead of place */
	const char *const *objects; /* only in these objects; none: all */
	size_t nr_objects;
	uint64_t target; /* id, or REPORT_ALL_TARGETS */
	/*
	 * Opens the objects' files, for code, symbols and lines, maybe several times for one
	 * object. NULL: there are no files.
	 */
	const struct object_opener *opener;
	bool look_in_roots; /* if a file is missing here, name the process whose root has it */
	const char *source; /* another folder to search for source files; or NULL */
	const char *kcore; /* where to read the kernel's code; NULL: /proc/kcore */
	enum disasm_syntax syntax;
	unsigned int lanes; /* columns for jumps, at most ANNOTATION_LANES */
};

/*
 * Returns 0, and the caller frees *result with annotation_free(). -EINVAL: there is no such place,
 * or it has no ticks. -ESTALE: the file changed since it ran, and its code may differ. If there
 * is no file, or for JIT text or an unreadable kernel, the rows are bins, and a note says why.
 */
int annotation_build(const struct profile *profile, const struct annotation_request *request,
		     struct annotation **result, struct error *err);

#endif
