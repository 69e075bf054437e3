/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OLD_SPOOLS_H
#define BPFPROFIL_OLD_SPOOLS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/sink.h"

/* --old-spools: what happens to profiles that wait for a sink which is no longer in the options. */
enum old_spools_choice {
	OLD_SPOOLS_KEEP, /* and reported */
	OLD_SPOOLS_SEND, /* by a sink of the same kind, or else the first one */
	OLD_SPOOLS_DROP,
};

extern const char *const old_spools_words[]; /* ends with NULL */

/*
 * Handles such profiles in the folder of --spool; NULL: there is none. Call it after closing former
 * sinks. Returns how many bytes are kept.
 */
uint64_t old_spools_settle(const char *dir, enum old_spools_choice choice, struct sink **sinks,
			   size_t nr);

#endif
