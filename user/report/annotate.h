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
 * A function instruction by instruction: what each one costs, which source line it belongs to, and
 * where it jumps. annotation_build() reads a profile and the files that ran, and prints nothing;
 * annotate_write.h and the live view show the result.
 */

struct annotation_request {
	/* SYMBOL, OBJECT:SYMBOL, OBJECT:OFFSET (as report shows it) or FILE:LINE. */
	const char *place;
	const struct profile_function *function; /* a function of the profile, instead of place */
	const char *const *objects; /* only in these objects; none: all */
	size_t nr_objects;
	uint64_t target; /* id, or REPORT_ALL_TARGETS */
	/*
	 * Opens the objects' files, for code, symbols and lines; it may be called several times for
	 * one object. NULL: there are no files.
	 */
	const struct object_opener *opener;
	bool look_in_roots; /* say which process's root has a file that is not here */
	const char *source; /* another folder in which to look for source files; or NULL */
	const char *kcore; /* where to read the kernel's code; NULL: /proc/kcore */
	enum disasm_syntax syntax;
	unsigned int lanes; /* columns for jumps, at most ANNOTATION_LANES */
};

/*
 * Returns 0, and the caller frees *result with annotation_free(). -EINVAL: there is no such place, or
 * no tick there. -ESTALE: the file is no longer the one that ran, so its code may differ. If there
 * is no file at all, or for JIT text or an unreadable kernel, the rows are bins, and a note says
 * why.
 */
int annotation_build(const struct profile *profile, const struct annotation_request *request,
		     struct annotation **result, struct error *err);

#endif
