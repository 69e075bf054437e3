// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * steady TURNS: one loop over three functions, which take 5, 3 and 2 tenths of the time. Built once more with
 * -pg, for gprof, and once with LIBC, where libc's profil() counts it; then it prints the ticks, and the bytes
 * of the buffer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WORK(name, share)                                                                          \
	__attribute__((noinline)) static uint64_t name(uint64_t x)                                 \
	{                                                                                          \
		for (int i = 0; i < (share)*100000; i++) {                                         \
			x ^= x << 13;                                                              \
			x ^= x >> 7;                                                               \
			x ^= x << 17;                                                              \
		}                                                                                  \
		return x;                                                                          \
	}

WORK(five, 5)
WORK(three, 3)
WORK(two, 2)

int main(int argc, char **argv)
{
	long turns = argc == 2 ? atol(argv[1]) : 0;
	volatile uint64_t x = 88172645463325252;
#ifdef LIBC
	extern char __executable_start, etext;
	size_t text = (size_t)(&etext - &__executable_start), ticks = 0;
	unsigned short *bins = calloc(text / 2 + 1, sizeof(*bins));

	profil(bins, text, (size_t)&__executable_start, 0x10000);
#endif
	while (turns-- > 0)
		x = two(three(five(x)));
#ifdef LIBC
	profil(bins, 0, 0, 0);
	for (size_t i = 0; i < text / 2; i++)
		ticks += bins[i];
	printf("%zu %zu\n", ticks, text);
#endif
	return 0;
}
