/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SAMPLES_IMPL_H
#define BPFPROFIL_SAMPLES_IMPL_H

#include "export/samples.h"
#include "profile/profile_weights.h"

/* Limit of lines of a place. Deeper inlining loses its middle. */
#define FRAMES_MAX 64

/* The number of an entry, which is added if it is new; 0: out of memory. */
uint32_t samples_function(struct samples *samples, const char *name, const char *file);
uint32_t samples_mapping(struct samples *samples, uint32_t object, const struct profile_text *text);
uint32_t samples_process(struct samples *samples, const struct profile_histogram *histogram);
uint32_t samples_service(struct samples *samples, uint32_t target, const char *cgroup);

/* Does the same with texts. A mapping is the same in several objects. */
uint32_t samples_mapping_of(struct samples *samples, const char *path, const char *build_id,
			    const struct profile_text *text, uint32_t object);
uint32_t samples_process_of(struct samples *samples, const char *pid, const char *name);

/*
 * samples_place() compares lines, and addresses too if places are exact. samples_new_place() adds a
 * place that must be new.
 */
uint32_t samples_place(struct samples *samples, const struct sample_place *place,
		       const struct sample_line *lines);
uint32_t samples_new_place(struct samples *samples, const struct sample_place *place,
			   const struct sample_line *lines);

/* The place of something other than text, like "[lost: exit]"; format has one string. */
uint32_t samples_named_place(struct samples *samples, const char *format, const char *word);

/* Adds a sample, unless it is empty. */
void samples_add(struct samples *samples, const struct sample *sample);

/* Adds ticks outside of bins, and CPU time that no tick in a bin stands for. */
void samples_add_account(struct samples *samples, const struct profile_weights *weights,
			 const struct export_options *options);

/* Call samples_free() in any case. Returns 0 or -ENOMEM. */
int samples_begin(struct samples *samples, const struct profile *profile);

/* Sorts samples by service, and adds up equal ones. */
void samples_settle(struct samples *samples);

void samples_fail(struct samples *samples);

/* 0, or -ENOMEM if anything could not be added. */
int samples_error(const struct samples *samples);

#endif
