/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROPOSALS_H
#define BPFPROFIL_PROPOSALS_H

#include "base/error.h"
#include "target/names.h"

enum proposal { PROPOSE_CGROUPS, PROPOSE_CONTAINERS, PROPOSE_UNITS, PROPOSE_NAMES };

/* What a target of a kind could be named here and now, ascending, each once; names_free() it. */
int proposals_find(enum proposal kind, struct names *ret, struct error *err);

#endif
