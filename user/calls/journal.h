/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JOURNAL_H
#define BPFPROFIL_JOURNAL_H

#include "calls/call_engine.h"
#include "calls/caller.h"
#include "profile/profile.h"

/*
 * What calls counted, as targets of a profile. It is kept when calls end, if somebody wants to read
 * it.
 */
struct journal {
	struct profile *profile; /* NULL: there is nothing yet */
	size_t targets_capacity;
	size_t objects_capacity;
	size_t histograms_capacity;
	bool incomplete; /* memory ran out */
};

/* Adds a call whose counters have all been copied. */
void journal_add(struct journal *journal, struct caller *caller, const struct call_engine *engine);

/*
 * Adds the account of a call whose counters cannot be reached, nor what was copied of them: its
 * ticks are unwritten.
 */
void journal_add_unread(struct journal *journal, const struct caller *caller,
			const struct call_engine *engine);

void journal_free(struct journal *journal);

#endif
