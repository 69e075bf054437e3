/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OLD_SPOOLS_H
#define BPFPROFIL_OLD_SPOOLS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/sink.h"

/* What becomes of profiles that wait for a sink that the options do not name any more. */
enum old_spools_choice {
	OLD_SPOOLS_KEEP, /* they are reported */
	OLD_SPOOLS_SEND, /* a sink of the same kind sends them, or else the first one */
	OLD_SPOOLS_DROP,
};

extern const char *const old_spools_words[]; /* ends with NULL */

/*
 * Looks for them in the folder of --spool; NULL: there is none. Call it when former sinks are closed.
 * Returns how many bytes are kept.
 */
uint64_t old_spools_settle(const char *dir, enum old_spools_choice choice, struct sink **sinks,
			   size_t nr);

#endif
