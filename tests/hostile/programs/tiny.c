// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A program of one file, which runs for about a tenth of a millisecond. */
void _start(void);

void _start(void)
{
	unsigned long n = 100000;

	__asm__ volatile("1: dec %0\n jnz 1b\n"
			 "mov $60, %%eax\n xor %%edi, %%edi\n syscall\n"
			 : "+r"(n)
			 :
			 : "rax", "rdi", "rcx", "r11");
	__builtin_unreachable();
}
