/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_HTML_IMPL_H
#define BPFPROFIL_HTML_IMPL_H

#include "report/html.h"

/* The pages around the data, made of report/html by the build. */
extern const char html_report_page[];
extern const char html_diff_page[];

/*
 * <script type="application/json" id="NAME">, or "NAME-NUMBER", and the stream for its JSON: what
 * is written there cannot end the element. NULL: out of memory.
 */
#define HTML_NO_NUMBER UINT64_MAX
FILE *html_data_begin(const char *name, uint64_t number, FILE *out);
/* 0 or -ENOMEM. */
int html_data_end(FILE *data, FILE *out);

/*
 * Where each object's offsets are counted from in the page: its numbers hold 53 bits, and the kernel's
 * addresses differ in the lowest of 64. The caller frees; NULL: out of memory.
 */
uint64_t *html_object_bases(const struct profile *profile);

/* Functions of the source; see html_inlined.c. NULL: there are none in the page. */
struct html_inlined;

/* 0 with *ret, or a negative errno with err filled; the caller frees it. */
int html_inlined_new(const struct profile *profile, const struct html_options *options,
		     struct html_inlined **ret, struct error *err);
void html_inlined_free(struct html_inlined *inlined);

/* A member of the profile's: the names, and what is to be said of them. */
void html_inlined_names(const struct html_inlined *inlined, FILE *data);

/* A member of a histogram's: which of them its bins are of. */
void html_inlined_owners(const struct html_inlined *inlined,
			 const struct profile_histogram *histogram, FILE *data);

/* A member of the profile's: its hottest functions over the time of its parts. */
void html_timeline(struct timeline *timeline, const struct profile *profile, FILE *data);

/* The profile itself. timeline, inlined: or NULL. -ENOMEM */
int html_profile(const struct profile *profile, const uint64_t *bases, struct timeline *timeline,
		 const struct html_inlined *inlined, FILE *data);

/* The hottest functions' instructions, each as data of its own. */
int html_code(const struct profile *profile, const struct html_options *options,
	      const uint64_t *bases, FILE *out, struct error *err);

#endif
