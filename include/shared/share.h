/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SHARE_H
#define BPFPROFIL_SHARE_H

#include "shared/types.h"

/*
 * How much one owner may have of a table that all owners share. As long as no more than `lent` is
 * in use, any owner may have it. Beyond that, no owner's part may exceed what stays free for all
 * others. Parts get smaller as the table fills. Therefore late owners still find room. The reserve
 * is for newcomers: each owner may have a small part of its rest, so that the next newcomer finds
 * some too.
 */
enum { SHARE_NEWCOMERS = 16 /* parts of what is left */ };

/*
 * Returns 1 if an owner who holds `held` of a table of `size` elements may have `more`. `taken`
 * elements are in use.
 */
static inline __attribute__((always_inline)) __u32
share_admits(__u32 size, __u32 lent, __u32 reserve, __u32 taken, __u32 held, __u32 more)
{
	__u64 has = (__u64)held + more, used = (__u64)taken + more, left;

	if (used <= lent)
		return 1;
	if (used > size)
		return 0;
	left = size - used;
	return has + reserve <= left || has <= 1 + left / SHARE_NEWCOMERS;
}

#endif
