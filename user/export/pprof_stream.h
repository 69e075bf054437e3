/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PPROF_STREAM_H
#define BPFPROFIL_PPROF_STREAM_H

#include <stdint.h>
#include <stdio.h>

#include "export/pointer_map.h"
#include "profile/profile.h"
#include "symbol/string_set.h"

#include "pprof.pb-c.h"

/* A pprof profile that is written part by part. The first failure of memory stays in error. */
struct pprof_stream {
	FILE *stream;
	FILE *escaped; /* one text at a time, into text */
	char *text;
	size_t size;
	int64_t nr_texts;
	struct string_set shared;
	struct pointer_map numbers; /* of the shared texts */
	int error; /* -ENOMEM */
};

/* pprof_stream_end() in either case. 0 or -ENOMEM. */
int pprof_stream_begin(struct pprof_stream *pprof, FILE *stream);
void pprof_stream_end(struct pprof_stream *pprof);

/* A part of the profile: what repeats is added to what came before. */
void pprof_put(struct pprof_stream *pprof, const Pprof__Profile *part);

/* What the values are, of which period, and when it was: samples and CPU time. */
void pprof_put_head(struct pprof_stream *pprof, const struct profile *profile, uint64_t period_ns);

/* The number of a new text; NULL is "". */
int64_t pprof_text(struct pprof_stream *pprof, const char *text);

/* The same for a text that comes again and again; it is kept. */
int64_t pprof_shared_text(struct pprof_stream *pprof, const char *text);

#endif
