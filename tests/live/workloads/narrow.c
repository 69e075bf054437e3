// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * narrow: a 32-bit program without a library. It sleeps for 0.2 s, on x86 in a system call of the vDSO, and burns
 * for a while in leaf(), called by _start().
 */

enum { NR_EXIT = 1, NR_NANOSLEEP = 162, AT_SYSINFO = 32 };

void _start(void);

static __attribute__((noinline)) void leaf(unsigned int n)
{
	unsigned int x = 1;

	for (; n; n--) {
		x = x * 0x5851f42dU + n;
		__asm__ volatile("" : "+r"(x));
	}
}

#ifdef __arm__
static void system_call(int number, const void *first, const unsigned long *stack)
{
	register int r7 __asm__("r7") = number;
	register const void *r0 __asm__("r0") = first;
	register int r1 __asm__("r1") = 0;

	(void)stack;
	__asm__ volatile("svc #0" : "+r"(r0) : "r"(r7), "r"(r1) : "memory");
}
#else
/* stack: as at the program's start, with argc, arguments, environment and the auxiliary vector */
static void system_call(int number, const void *first, const unsigned long *stack)
{
	const unsigned long *at = stack + 1 + stack[0] + 1;

	while (*at++)
		;
	while (at[0] != AT_SYSINFO)
		at += 2;
	__asm__ volatile("call *%2" : "+a"(number) : "b"(first), "m"(at[1]), "c"(0) : "memory");
}
#endif

void _start(void)
{
	static const long time[] = { 0, 200000000 };
	const unsigned long *stack = (const unsigned long *)__builtin_frame_address(0) + 1;

	system_call(NR_NANOSLEEP, time, stack);
	leaf(600000000);
	system_call(NR_EXIT, 0, stack);
	__builtin_unreachable();
}
