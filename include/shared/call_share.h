/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_SHARE_H
#define BPFPROFIL_CALL_SHARE_H

#include "shared/types.h"

/*
 * How much one user may have of a table that all users share. Nobody's part may exceed what stays
 * free for all others, so parts get smaller as the table fills, and a user who comes late still
 * finds room. An eighth is reserved for root, who has no limit, and another eighth for newcomers:
 * each user may take a small part of what is left of that, so that the next newcomer finds some
 * too.
 */
enum {
	CALL_SHARE_RESERVES = 8, /* parts of the table; each reserve is one of them */
	CALL_SHARE_NEWCOMERS = 16, /* parts of what is left of the newcomers' reserve */
};

/* Root's limit. */
#define CALL_NO_LIMIT 0xffffffffU

/*
 * Returns 1 if a user who holds `held` of a table of `size` elements, of which `taken` are in use,
 * may have `more`.
 */
static inline __attribute__((always_inline)) __u32 call_share_admits(__u32 size, __u32 taken,
								     __u32 held, __u32 more)
{
	__u64 reserve = size / CALL_SHARE_RESERVES, has = (__u64)held + more;
	__u64 used = (__u64)taken + more + reserve, left;

	if (used > size)
		return 0;
	left = size - used;
	return has + reserve <= left || has <= 1 + left / CALL_SHARE_NEWCOMERS;
}

/*
 * Takes one for a user; returns 1, or 0. Two users at once may both be refused where one would fit.
 */
static inline __attribute__((always_inline)) __u32 call_share_take(__u32 *held, __u32 limit,
								   __u32 *taken, __u32 size)
{
	__u32 has = __sync_fetch_and_add(held, 1), all = __sync_fetch_and_add(taken, 1);

	if (limit == CALL_NO_LIMIT || (has < limit && call_share_admits(size, all, has, 1)))
		return 1;
	__sync_fetch_and_sub(held, 1);
	__sync_fetch_and_sub(taken, 1);
	return 0;
}

static inline __attribute__((always_inline)) void call_share_give(__u32 *held, __u32 *taken)
{
	__sync_fetch_and_sub(held, 1);
	__sync_fetch_and_sub(taken, 1);
}

#endif
