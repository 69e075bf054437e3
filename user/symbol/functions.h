/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_FUNCTIONS_H
#define BPFPROFIL_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

struct allowance;
struct symbol_cache;

/*
 * Where the names of an object come from. open returns a descriptor, which functions_resolve
 * closes, or -errno when there is none: of the ELF file, or for a jit object of the process's perf
 * map. It is asked at most once per object, and never for the kernel or "[vdso]".
 * open_places, which may be NULL, is of a jit object the same for a second map, of code that lies
 * where no process has text; limit receives how many bytes of the first were there when the profile
 * was made. root receives what stands before "/usr/lib/debug": "" here, "/proc/PID/root" for a
 * container. With a cache what was read stays there for the next profile.
 */
struct object_opener {
	int (*open)(void *ctx, uint32_t object, char *root, size_t root_size);
	int (*open_places)(void *ctx, uint32_t object, uint64_t *limit);
	void *ctx;
	struct symbol_cache *cache; /* the caller's, or NULL */
	struct allowance *allowance; /* the same; NULL: a fresh one for each profile's names */
};

/*
 * Fills profile->functions from its histograms, hottest first, and drops what stood there. Each bin
 * goes to one function, so that their ticks add up to the bins'. A bin goes to the function that
 * contains it; text that no symbol names is one function from the one before it to the next, named
 * OBJECT+0xOFFSET, or OBJECT where nothing has names at all and it is no file's; a bin that spans
 * several is a place of its own size. Of an object that is broken, takes more memory than there is, or
 * has no names a note tells.
 * The kernel's names are those of /proc/kallsyms, and "[vdso]" is our own. opener NULL: the profile
 * is not of this host, and there are no names at all.
 * Fails only for lack of memory for the functions themselves; the profile is then as before.
 */
int functions_resolve(struct profile *profile, const struct object_opener *opener,
		      struct error *err);

#endif
