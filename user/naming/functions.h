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
 * Opens the files with an object's names.
 *
 * open() returns a descriptor, which functions_resolve() closes, or -errno: of the ELF file, or for
 * a JIT object of the process's perf map. It is called once per object, once more for a file that a
 * note mentions, and never for the kernel or "[vdso]". root receives the prefix of
 * "/usr/lib/debug": "" for this host, "/proc/PID/root" for a container.
 *
 * open_places(), which may be NULL, opens a second map of a JIT object: code that was replaced, at
 * addresses that no process uses. limit receives how many bytes of the first map existed when the
 * profile was made.
 *
 * A cache keeps tables for the next profile.
 */
struct object_opener {
	int (*open)(void *ctx, uint32_t object, char *root, size_t root_size);
	int (*open_places)(void *ctx, uint32_t object, uint64_t *limit);
	/*
	 * Whether root or our user owns an object's file; such files are read first. NULL: unknown.
	 */
	bool (*is_trusted)(void *ctx, uint32_t object);
	void *ctx;
	struct symbol_cache *cache; /* the caller's; may be NULL */
	struct allowance
		*code; /* for maps of just-in-time code; NULL: the next one limits these too */
	struct allowance *allowance; /* the caller's; NULL: a new one for each profile's names */
};

/*
 * Replaces profile->functions by those of its histograms, hottest first.
 *
 * Each bin counts for one function, so that the sums agree: the function that contains it. Nameless
 * text becomes a function OBJECT+0xFIRST..0xLAST, from the end of one symbol to the start of the
 * next. If the file has names elsewhere, it is at most 4 KiB long. Text outside of files without
 * any names becomes OBJECT. A bin that spans several functions becomes a place of its own size,
 * OBJECT+0xOFFSET.
 *
 * Notes report objects that are broken, need too much memory, or have no names. The kernel's names
 * come from /proc/kallsyms, those of "[vdso]" from our own. opener NULL: the profile is not of this
 * host, and there are no names. It only fails without memory; if that is for the functions
 * themselves, the profile is unchanged.
 *
 * Names also show which chains of callers were cut above main, and how to see more callers. Notes
 * say so.
 */
int functions_resolve(struct profile *profile, const struct object_opener *opener,
		      struct error *err);

/*
 * Looks up names again for text of files without names, because debug symbols may have been
 * installed since. Also names the text of a program's own calls beside a command. The functions of a file are replaced if fewer of its ticks are nameless then,
 * and the note on nameless text is replaced, too. opener must only open files that ran. Without
 * memory it fails, and the profile may have lost that note.
 */
int functions_resolve_rest(struct profile *profile, const struct object_opener *opener,
			   struct error *err);

#endif
