// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* narrow: a 32-bit program without a library, which burns for a while in leaf(), called by _start(). */

void _start(void);

static __attribute__((noinline)) void leaf(unsigned int n)
{
	unsigned int x = 1;

	for (; n; n--) {
		x = x * 0x5851f42dU + n;
		__asm__ volatile("" : "+r"(x));
	}
}

void _start(void)
{
	leaf(600000000);
#ifdef __arm__
	__asm__ volatile("mov r7, #1\n mov r0, #0\n svc #0" ::: "r0", "r7");
#else
	__asm__ volatile("int $0x80" ::"a"(1), "b"(0));
#endif
	__builtin_unreachable();
}
