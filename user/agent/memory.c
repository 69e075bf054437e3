// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/memory.h"

#include <malloc.h>

/*
 * Threads take turns with a profile: one names it, one for each sink sends it, others answer scrapes.
 * glibc gives each an arena, which keeps the most that was ever used in it; as threads come and go, that
 * becomes the most of naming in several. In a single arena a thread uses what another has freed.
 */
#define ARENAS 1

/*
 * Anything larger is mapped, and goes back to the kernel when it is freed. To say so also keeps glibc
 * from raising the limit to the largest block that was ever freed, up to 32 MiB.
 */
#define MAPPED_BYTES (128 << 10)

void memory_keep_little(void)
{
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, ARENAS);
#endif
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
#endif
}
