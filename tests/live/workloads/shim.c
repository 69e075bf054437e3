// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * shim UNITS: the program's entry is hand-written. It has no call-frame information, and what it keeps in rbp
 * or x29 is no frame. It calls main(), which burns in leaf(), by first() and by an assembler function without
 * call-frame information, whose last instructions show where it returns to; 6 : 4.
 */
#include "spin.h"

SPIN_FUNCTION(leaf)

void first(unsigned long units);
void bare(unsigned long units);
int main(int argc, char **argv);

__asm__(".pushsection .text\n"
	".globl shim_entry\n"
	".type shim_entry, @function\n"
	"shim_entry:\n"
#ifdef __aarch64__
	"	ldr x0, [sp]\n"
	"	add x1, sp, #8\n"
	"	mov x29, #0x4567\n"
	"	sub sp, sp, #16\n"
	"	bl main\n"
	"	mov x8, #94\n"
	"	svc #0\n"
#else
	"	movq (%rsp), %rdi\n"
	"	leaq 8(%rsp), %rsi\n"
	"	movq $0x1234567, %rbp\n"
	"	subq $16, %rsp\n"
	"	call main\n"
	"	movl %eax, %edi\n"
	"	movl $231, %eax\n"
	"	syscall\n"
#endif
	".size shim_entry, . - shim_entry\n"
	".globl bare\n"
	".type bare, @function\n"
	"bare:\n"
#ifdef __aarch64__
	"	stp x29, x30, [sp, #-32]!\n"
	"	mov x29, #0x4567\n"
	"	bl leaf\n"
	"	ldp x29, x30, [sp], #32\n"
	"	ret\n"
#else
	"	pushq %rbp\n"
	"	movq $0x1234567, %rbp\n"
	"	pushq %r12\n"
	"	subq $24, %rsp\n"
	"	call leaf\n"
	"	addq $24, %rsp\n"
	"	popq %r12\n"
	"	popq %rbp\n"
	"	ret\n"
#endif
	".size bare, . - bare\n"
	".popsection\n");

__attribute__((noinline, noclone)) void first(unsigned long units)
{
	leaf(units);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	unsigned long units = spin_argument(argc, argv, 1, 1000);

	for (; units >= SPIN_ROUND; units -= SPIN_ROUND) {
		first(SPIN_ROUND / 10 * 6);
		bare(SPIN_ROUND / 10 * 4);
	}
	return 0;
}
