// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * bigtext ROUNDS UNITS: 4,096 functions of a page each, with 64 MiB of text between the first half
 * and the second. Each round burns in every one: in the first half 5 * UNITS / 100, in the second
 * 3. Ticks fall on many instructions of a function on any processor.
 */
#include "spin.h"

#define STEP                                                                                       \
	x = x * 0x5851f42dUL + n;                                                                  \
	__asm__ volatile("" : "+r"(x))

#define PAGE_FUNCTION(half, n)                                                                     \
	static __attribute__((noinline, aligned(4096), section(".text." #half))) void half##n(     \
		unsigned long units)                                                               \
	{                                                                                          \
		__asm__ volatile("/* " #half #n " */");                                            \
		spin_part(units);                                                                  \
	}

static inline __attribute__((always_inline)) void spin_part(unsigned long hundredths)
{
	unsigned long x = 1, n;

	for (n = hundredths * (SPIN_UNIT / 100) / 8; n; n--) {
		STEP;
		STEP;
		STEP;
		STEP;
		STEP;
		STEP;
		STEP;
		STEP;
	}
}

#define X4(m, half, n) m(half, n##0) m(half, n##1) m(half, n##2) m(half, n##3)
#define X16(m, half, n) X4(m, half, n##0) X4(m, half, n##1) X4(m, half, n##2) X4(m, half, n##3)
#define X64(m, half, n) X16(m, half, n##0) X16(m, half, n##1) X16(m, half, n##2) X16(m, half, n##3)
#define X256(m, half, n) X64(m, half, n##0) X64(m, half, n##1) X64(m, half, n##2) X64(m, half, n##3)
#define X1024(m, half, n)                                                                          \
	X256(m, half, n##0) X256(m, half, n##1) X256(m, half, n##2) X256(m, half, n##3)
#define X2048(m, half) X1024(m, half, _0) X1024(m, half, _1)

#define ENTRY(half, n) half##n,

X2048(PAGE_FUNCTION, near)
__asm__(".pushsection .text.middle, \"ax\", %progbits\n"
	".skip 67108864\n"
	".popsection");
X2048(PAGE_FUNCTION, remote)

static void (*const near_half[])(unsigned long units) = { X2048(ENTRY, near) };
static void (*const remote_half[])(unsigned long units) = { X2048(ENTRY, remote) };

int main(int argc, char **argv)
{
	unsigned long rounds = spin_argument(argc, argv, 1, 1);
	unsigned long units = spin_argument(argc, argv, 2, 10);
	unsigned long i, f;

	for (i = 0; i < rounds; i++) {
		for (f = 0; f < sizeof(near_half) / sizeof(*near_half); f++)
			near_half[f](5 * units);
		for (f = 0; f < sizeof(remote_half) / sizeof(*remote_half); f++)
			remote_half[f](3 * units);
	}
	return 0;
}
