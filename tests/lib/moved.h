/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_MOVED_H
#define TEST_MOVED_H

/* Text that runs wherever it is copied, for programs that act as a JIT. */
#include <stdint.h>

typedef uint64_t work_fn(uint64_t x, uint64_t turns);

/*
 * Placed between two marks, so that its bytes can be copied; it refers to nothing outside of them.
 */
__attribute__((noinline, section("moved"), used)) static uint64_t spin(uint64_t x, uint64_t turns)
{
	while (turns--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

extern const char __start_moved[], __stop_moved[];

#endif
