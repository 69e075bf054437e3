/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef RAWCALL_H
#define RAWCALL_H

#include <sys/syscall.h>

/*
 * An inline system call: the pc that the kernel returns to is in the calling function, so a tick in
 * the kernel is billed to that and not to a wrapper in the C library.
 */
static inline __attribute__((always_inline)) long rawcall(long number, long a, long b, long c)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#else
#error "rawcall() is not written for this machine"
#endif
}

#endif
