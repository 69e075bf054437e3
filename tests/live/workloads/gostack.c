// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * gostack [UNITS]: like a Go program that was linked by -s: frame pointers, no rules, a table of Go's;
 * and first, on a stack of its own, has leaf called on the first thread's, which is at higher addresses.
 */
#include <stddef.h>
#include <sys/mman.h>

#include "spin.h"

enum { STACK_BYTES = 1 << 16 };

/* Go's table of functions, as 1.16 has it: one of all text. */
__asm__(".pushsection .gopclntab, \"aw\", @progbits\n"
	"table: .long 0xfffffffa\n"
	".byte 0, 0, 1, 8\n"
	".quad 1, 1, rest - table, rest - table, rest - table, rest - table, functions - table, 0\n"
	"rest: .quad 0\n"
	"functions: .quad _init, 0, etext\n"
	".popsection\n");

static char *high;

SPIN_FUNCTION(leaf)

/* Calls there(units) with its stack below top. Like runtime.systemstack it has no frame of its own. */
void on_stack(void (*there)(unsigned long), unsigned long units, char *top);
__asm__(".globl on_stack\n"
	".type on_stack, @function\n"
	"on_stack:\n"
#ifdef __aarch64__
	"	stp x19, x30, [sp, #-16]!\n"
	"	mov x19, sp\n"
	"	mov sp, x2\n"
	"	mov x3, x0\n"
	"	mov x0, x1\n"
	"	blr x3\n"
	"	mov sp, x19\n"
	"	ldp x19, x30, [sp], #16\n"
	"	ret\n"
#else
	"	push %rbx\n"
	"	mov %rsp, %rbx\n"
	"	mov %rdx, %rsp\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	call *%rax\n"
	"	mov %rbx, %rsp\n"
	"	pop %rbx\n"
	"	ret\n"
#endif
	".size on_stack, . - on_stack\n");

void burns(unsigned long units);
__attribute__((noinline)) void burns(unsigned long units)
{
	leaf(units);
	__asm__ volatile("" ::: "memory");
}

/* Its frame is the last on this stack, and so the one that the frame pointer leads past. */
void switches(unsigned long units);
__attribute__((noinline)) void switches(unsigned long units)
{
	on_stack(burns, units, high);
	__asm__ volatile("" ::: "memory");
}

void first(unsigned long units);
__attribute__((noinline)) void first(unsigned long units)
{
	switches(units);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	char room[STACK_BYTES] __attribute__((aligned(16)));
	char *low =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (low == MAP_FAILED)
		return 1;
	high = room + STACK_BYTES;
	__asm__ volatile("" : : "r"(high) : "memory");
	on_stack(first, spin_argument(argc, argv, 1, 2000), low + STACK_BYTES);
	return 0;
}
