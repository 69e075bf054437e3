/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FUNCTIONS_H
#define BPFPROFIL_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

struct allowance;
struct symbol_cache;

/*
 * Opens the files that an object's names come from.
 *
 * open returns a descriptor, which functions_resolve closes, or -errno if there is none: of the ELF
 * file, or of the process's perf map for a jit object. It is called once per object, once more for a file
 * that a note is about, and never for the kernel or "[vdso]". root receives what comes before "/usr/lib/debug": "" for this
 * host, "/proc/PID/root" for a container.
 *
 * open_places, which may be NULL, does the same for a second map of a jit object, for code that
 * other code has replaced and that was given addresses where no process has text; limit receives
 * how many bytes of the first map existed when the profile was made.
 *
 * A cache keeps what was read for the next profile.
 */
struct object_opener {
	int (*open)(void *ctx, uint32_t object, char *root, size_t root_size);
	int (*open_places)(void *ctx, uint32_t object, uint64_t *limit);
	/* Whether an object's file is root's or ours, for what is read first. NULL: this is not known of any. */
	bool (*is_trusted)(void *ctx, uint32_t object);
	void *ctx;
	struct symbol_cache *cache; /* belongs to the caller; may be NULL */
	struct allowance
		*code; /* of maps of just-in-time code; NULL: the next one counts for these too */
	struct allowance *allowance; /* the caller's; NULL: a fresh one for each profile's names */
};

/*
 * Fills profile->functions from its histograms, hottest first, and replaces what was there.
 *
 * Each bin goes to one function, so that their ticks add up to the bins'. It goes to the function
 * that contains it. Text that no symbol names is one function, named OBJECT+0xFIRST..0xLAST: from
 * the end of the one before it to the next, in a file that has names for other text at most 4 KiB of
 * it; or OBJECT if it has no names at all and is not in a file. A bin that spans several functions
 * becomes a place of its own size, OBJECT+0xOFFSET.
 *
 * A note tells of an object that is broken, that takes more memory than there is, or that has no
 * names. The kernel's names come from /proc/kallsyms, and those of "[vdso]" from our own. With
 * opener NULL the profile is not of this host, and there are no names at all. It fails only if
 * there is no memory. If that is for the functions themselves, the profile is unchanged.
 *
 * With names it is known which chains of callers were cut above main, and what would show more of callers:
 * notes say so.
 */
int functions_resolve(struct profile *profile, const struct object_opener *opener,
		      struct error *err);

/*
 * Looks again for the names of files' text that had none when the profile was made, because debug
 * symbols may have been installed since. The functions of a file are replaced if fewer of its ticks
 * are without a name then, and the note that tells of these is made anew. opener must open nothing
 * but what ran. Without memory it fails, and the profile may have lost that note.
 */
int functions_resolve_rest(struct profile *profile, const struct object_opener *opener,
			   struct error *err);

#endif
