// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * One of the shared objects that the workload runs in, built many times with different OBJECT. Each
 * function starts a page of its own, so that a caller decides how many pages of an object are hot.
 * It does integer work only, so that only the profiler's interrupt changes its speed.
 */
#include "object.h"

#define TURNS 2000

#define WORK(n)                                                                                    \
	__attribute__((noinline, aligned(4096))) static uint64_t work_##n(uint64_t x)              \
	{                                                                                          \
		for (int i = 0; i < TURNS; i++) {                                                  \
			x ^= x << 13;                                                              \
			x ^= x >> 7;                                                               \
			if (x & (OBJECT + 1))                                                      \
				x += (uint64_t)i * (2 * (n) + OBJECT + 1);                         \
			x ^= x << 17;                                                              \
			if ((x & 0xff) == (n))                                                     \
				x = ~x + OBJECT;                                                   \
			x ^= x >> 11;                                                              \
		}                                                                                  \
		return x;                                                                          \
	}

WORK(0)
WORK(1)
WORK(2)
WORK(3)

object_work *const object_pages[OBJECT_PAGES] = { work_0, work_1, work_2, work_3 };
