/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_LABELS_H
#define BPFPROFIL_PROFILE_LABELS_H

#include <stddef.h>

/* For qsort(), by host, cgroup and key. */
int profile_labels_compare(const void *left, const void *right);

/*
 * Folds nr labels that compare equal into the first. Of several values the one that comes first as a
 * text is kept, so that the order of a merge does not matter. 0.
 */
int profile_labels_combine(void *first, size_t nr);

#endif
