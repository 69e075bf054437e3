/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_TESTS_SAMPLE_H
#define BPFPROFIL_TESTS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/export.h"
#include "profile/profile.h"

/* For variables that own a profile until the end of their scope, as cleanup_free does in base/util.h. */
#define cleanup_profile __attribute__((cleanup(sample_profile_cleanup)))
static inline void sample_profile_cleanup(struct profile **profile)
{
	profile_free(*profile);
}

/*
 * A small profile with everything a document can have: two targets, all kinds of objects, two
 * histograms of one object whose bins interleave, wide bins, an overflow bin, lost ticks, and names
 * that need escaping. It passes profile_check(). tests/golden/profile.* is its written form.
 */
struct profile *sample_profile(void);

/* A profile with one histogram of nr bins and nothing else of size. */
struct profile *sample_profile_of_bins(size_t nr);

/*
 * A profile of so many services, each of which has nr bins at the same text; ten bins are a function,
 * and each tenth function has no name. The scheduler's time is known.
 */
struct profile *sample_profile_of_services(size_t services, size_t nr);

/* The same with callers: each bin but the first is called by the one of a quarter of its number. */
struct profile *sample_profile_of_chains(size_t services, size_t nr);

/*
 * The same as sample_profile(), but every name in it is `name`, and its first target has a process.
 * Names come from other people, so they may be anything.
 */
struct profile *sample_profile_of_names(const char *name);

/*
 * The sample as if it had been split: two processes with pid 5, one of them in two texts, and 77's
 * JIT.
 */
struct profile *sample_profile_of_processes(void);

/*
 * Names that mean something to a terminal, to a reader of lines or of UTF-8, or to a format; one is
 * 64 KiB long. Ends with NULL.
 */
extern const char *const sample_names[];

/* What an export that succeeds writes, which the caller frees; size may be NULL. */
char *sample_export(const char *format, const struct profile *profile,
		    const struct export_options *options, size_t *size);

/* Whether the text is UTF-8 without control characters. */
bool sample_is_harmless(const char *text);

/* Ticks of one function in one process, as a session tells them apart. */
struct interval_count {
	const char *object;
	const char *function;
	uint64_t offset;
	int64_t pid;
	const char *process;
	const char *cgroup;
	uint64_t ticks;
};

/*
 * What a session of one second at 1 kHz on 2 CPUs returns: a histogram and a function for each
 * count, and lost ticks.
 */
struct profile *interval_profile(const struct interval_count *counted, size_t nr, uint64_t lost);

#define INTERVAL(lost, ...)                                                                        \
	interval_profile((const struct interval_count[]){ __VA_ARGS__ },                           \
			 sizeof((const struct interval_count[]){ __VA_ARGS__ }) /                  \
				 sizeof(struct interval_count),                                    \
			 lost)

#endif
