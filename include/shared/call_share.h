/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_SHARE_H
#define BPFPROFIL_CALL_SHARE_H

#include "shared/share.h"

/*
 * How much one user may have of a table that all users of the server share, by the rule of
 * shared/share.h. An eighth is reserved for root, who has no limit, and another eighth for
 * newcomers. Nothing is lent, because only the borrower could free it.
 */
enum { CALL_SHARE_RESERVES = 8 /* parts of the table; each reserve is one of them */ };

/* Root's limit. */
#define CALL_NO_LIMIT 0xffffffffU

/*
 * Returns 1 if a user who holds `held` of a table of `size` elements may have `more`. `taken`
 * elements are in use.
 */
static inline __attribute__((always_inline)) __u32 call_share_admits(__u32 size, __u32 taken,
								     __u32 held, __u32 more)
{
	__u32 reserve = size / CALL_SHARE_RESERVES;

	return share_admits(size - reserve, 0, reserve, taken, held, more);
}

/*
 * Acquires one for a user; returns 1, or 0. Two users at once may both be refused where one would
 * fit.
 */
static inline __attribute__((always_inline)) __u32 call_share_acquire(__u32 *held, __u32 limit,
								      __u32 *taken, __u32 size)
{
	__u32 has = __sync_fetch_and_add(held, 1), all = __sync_fetch_and_add(taken, 1);

	if (limit == CALL_NO_LIMIT || (has < limit && call_share_admits(size, all, has, 1)))
		return 1;
	__sync_fetch_and_sub(held, 1);
	__sync_fetch_and_sub(taken, 1);
	return 0;
}

static inline __attribute__((always_inline)) void call_share_release(__u32 *held, __u32 *taken)
{
	__sync_fetch_and_sub(held, 1);
	__sync_fetch_and_sub(taken, 1);
}

#endif
