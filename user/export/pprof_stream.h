/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PPROF_STREAM_H
#define BPFPROFIL_PPROF_STREAM_H

#include <stdint.h>
#include <stdio.h>

#include "export/samples.h"
#include "export/texts.h"
#include "profile/profile.h"

#include "pprof.pb-c.h"

/* A pprof profile that is written part by part. texts.error: the first lack of memory. */
struct pprof_stream {
	FILE *stream;
	struct texts texts; /* number 0 is "", as in pprof */
	size_t nr_texts; /* those that were written */
};

/* Call pprof_stream_end() in any case. Returns 0 or -ENOMEM. */
int pprof_stream_begin(struct pprof_stream *pprof, FILE *stream);
void pprof_stream_end(struct pprof_stream *pprof);

/* Writes a part of the profile. Repeated fields are appended to earlier parts. */
void pprof_put(struct pprof_stream *pprof, const Pprof__Profile *part);

/* Writes the types of values (samples and CPU time), the period, and the time of the profile. */
void pprof_put_head(struct pprof_stream *pprof, const struct profile *profile, uint64_t period_ns,
		    enum sample_value first, size_t nr);

/*
 * Writes a first mapping without text: pprof names a profile after the file of its first mapping,
 * and a whole host would get the name of an arbitrary program.
 */
void pprof_put_host(struct pprof_stream *pprof, const struct profile *profile, uint64_t id);

/* Returns the number of a text, and writes it before its first use; NULL is "". */
int64_t pprof_text(struct pprof_stream *pprof, const char *text);

#endif
