// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Some hundred bytes of text in a file of its own, which can be mapped any number of times; many.c
 * jumps to its entry. It refers to nothing outside of itself.
 */
#include <stdint.h>

uint64_t stub(uint64_t x, uint64_t turns);

uint64_t stub(uint64_t x, uint64_t turns)
{
	while (turns--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}
