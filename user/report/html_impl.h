/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HTML_IMPL_H
#define BPFPROFIL_HTML_IMPL_H

#include "report/html.h"

/* The pages around the data, made from report/html by the build. */
extern const char html_report_page[];
extern const char html_diff_page[];

/*
 * Begins <script type="application/json" id="NAME">, or "NAME-NUMBER". Returns the stream for its
 * JSON, in which nothing that is written can end the element. NULL: out of memory.
 */
#define HTML_NO_NUMBER UINT64_MAX
FILE *html_data_begin(const char *name, uint64_t number, FILE *out);
/* Returns 0 or -ENOMEM. */
int html_data_end(FILE *data, FILE *out);

/*
 * What is subtracted from each object's offsets in the page, because its numbers hold 53 bits and
 * the kernel's addresses differ in the lowest of 64. The caller frees the array. NULL: out of
 * memory.
 */
uint64_t *html_object_bases(const struct profile *profile);

/* Functions of the source; see html_inlined.c. NULL: the page has none. */
struct html_inlined;

/* Returns 0 with *result, which the caller frees, or a negative errno with err filled in. */
int html_inlined_new(const struct profile *profile, const struct html_options *options,
		     struct html_inlined **result, struct error *err);
void html_inlined_free(struct html_inlined *inlined);

/* Writes a member of the profile: the names, and notes about them. */
void html_inlined_names(const struct html_inlined *inlined, FILE *data);

/* Writes a member of a histogram: which of them its bins belong to. */
void html_inlined_owners(const struct html_inlined *inlined,
			 const struct profile_histogram *histogram, FILE *data);

/* Writes a member of the profile: its hottest functions over the time of its parts. */
void html_timeline(struct timeline *timeline, const struct profile *profile, FILE *data);

/* Writes the profile itself. timeline and inlined may be NULL. Returns 0 or -ENOMEM. */
int html_profile(const struct profile *profile, const uint64_t *bases, struct timeline *timeline,
		 const struct html_inlined *inlined, FILE *data);

/* Writes the hottest functions' instructions, each function as separate data. */
int html_code(const struct profile *profile, const struct html_options *options,
	      const uint64_t *bases, FILE *out, struct error *err);

#endif
