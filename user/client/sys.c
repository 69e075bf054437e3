// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "client/sys.h"

#include <stdint.h>

/* From linux/futex.h, which musl's compiler does not find. */
enum {
	FUTEX_WAKE_OP_PRIVATE = 5 | 128,
	OP_OR_NOTHING = 2 << 28, /* *word |= 0, then test whether it was 0 */
};

static int word_writable(uintptr_t at)
{
	uint32_t nobody_waits = 0;
	long ret;

	ret = SYS(futex, &nobody_waits, FUTEX_WAKE_OP_PRIVATE, 0, 0, at & ~(uintptr_t)3,
		  OP_OR_NOTHING);
	return ret == -EFAULT ? -EFAULT : 0;
}

int sys_writable(const void *at, unsigned long size)
{
	uintptr_t first = (uintptr_t)at;
	int ret;

	if (!size)
		return 0;
	ret = word_writable(first);
	return ret ? ret : word_writable(first + size - 1);
}
