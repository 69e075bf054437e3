/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FEATURES_H
#define BPFPROFIL_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * The features that this kernel and these privileges allow. Each is tried; the kernel's version is
 * no evidence. A probe runs once and its answer is kept. No other state of the engine outlives a
 * session.
 */
enum feature_state {
	FEATURE_UNTRIED,
	FEATURE_OK,
	FEATURE_LIMITED, /* profiling works, with the restriction that detail names */
	FEATURE_MISSING,
	FEATURE_UNKNOWN, /* cannot be tried, because an earlier feature is missing */
};

struct feature_answer {
	enum feature_state state;
	char detail[192]; /* what was found */
	char mend[192]; /* the command or change that fixes the lack, or "" */
};

struct feature {
	const char *id; /* one word that never changes, because scripts look for it */
	const char *description; /* what profiling needs it for */
	bool required; /* profiling cannot run without it */
	bool loads; /* can be tried only with the right to load programs */
	bool slow; /* measures for longer than a moment */
	void (*probe)(struct feature_answer *answer);
};

/* Returns the i-th feature and its answer, and probes it if necessary. NULL: past the end. */
const struct feature *features_at(size_t i, const struct feature_answer **ret_answer);

/* From now on features that take longer to try are not tried and stay unknown. */
void features_hurry(void);

/*
 * Returns 0 if every required feature is there, else -EPERM (privilege) or -EOPNOTSUPP, with the
 * first missing feature in err and its fix as the hint. It loads a dozen small programs and reads
 * the kernel's BTF, which takes about 10 ms. Therefore call it after a failure and not in advance.
 */
int features_require(struct error *err);

/* libbpf's version at run time, as "v1.1". */
const char *features_libbpf_version(void);

#endif
