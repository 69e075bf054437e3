// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A program of one file, which runs for about a tenth of a millisecond. */
void _start(void);

void _start(void)
{
	unsigned long n = 100000;

#ifdef __aarch64__
	__asm__ volatile("1: subs %0, %0, #1\n b.ne 1b\n"
			 "mov x8, #93\n mov x0, #0\n svc #0\n"
			 : "+r"(n)
			 :
			 : "x0", "x8");
#else
	__asm__ volatile("1: dec %0\n jnz 1b\n"
			 "mov $60, %%eax\n xor %%edi, %%edi\n syscall\n"
			 : "+r"(n)
			 :
			 : "rax", "rdi", "rcx", "r11");
#endif
	__builtin_unreachable();
}
