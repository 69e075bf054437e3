/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROPOSALS_H
#define BPFPROFIL_PROPOSALS_H

#include "base/error.h"
#include "base/nearest.h"

enum proposal {
	PROPOSE_CGROUPS,
	PROPOSE_CONTAINERS,
	PROPOSE_UNITS,
	PROPOSE_NAMES,
	PROPOSE_PIDS /* each followed by a tab and the process's name */
};

/*
 * Lists what a target of this kind could be named now, in ascending order, each name once; free it
 * with names_free().
 */
int proposals_find(enum proposal kind, struct names *result, struct error *err);

#endif
