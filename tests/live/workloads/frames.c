// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * frames WHAT [UNITS]: leaf burns below a frame that call-frame information says little of.
 *
 *   context   in a coroutine of makecontext(), whose function returns to the start of __start_context
 *   shim      called by shim, some instructions between two functions that, unlike these, nobody described
 *   marked    called by marked, whose description has the mark of a signal's frame, as those of OCaml's runtime
 *   signal    in a signal's handler, which returns to the start of __restore_rt, on arm64 of the vDSO's
 */
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "spin.h"

SPIN_FUNCTION(leaf)

#define NOT_LAST __asm__ volatile("" ::: "memory")

static unsigned long units;

void first(void);
__attribute__((noinline, noclone)) void first(void)
{
	leaf(units);
	NOT_LAST;
}

static ucontext_t outside, inside;
static char stack[1 << 16];

static void enter_context(void)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, first, 0);
	swapcontext(&outside, &inside);
}

/*
 * The functions around the shim are described, and it ends where the next one begins. It does not return at
 * once after its call, which would show where to.
 */
void shim(void);
__asm__(".text\n"
	".p2align 4\n"
	"before:\n"
	"	.cfi_startproc\n"
#ifdef __aarch64__
	"	nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".type shim, @function\n"
	"shim:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	mov x29, #1\n" /* no frame */
	"	bl first\n"
	"	mov w0, w0\n"
	"	ldp x29, x30, [sp], #16\n"
	"	ret\n"
#else
	"	xor %eax, %eax\n"
	"	nopl 0(%rax)\n"
	"	nop\n"
	"	nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".type shim, @function\n"
	"shim:\n"
	"	push %rax\n"
	"	call first\n"
	"	mov %eax, %eax\n"
	"	pop %rax\n"
	"	ret\n"
#endif
	".size shim, . - shim\n"
	".type after, @function\n"
	"after:\n"
	"	.cfi_startproc\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size after, . - after\n");

void calls_shim(void);
__attribute__((noinline, noclone)) void calls_shim(void)
{
	shim();
	NOT_LAST;
}

/* Only the description leads to its caller: fp is no frame's. */
void marked(void);
__asm__(".text\n"
	".type marked, @function\n"
	"marked:\n"
	"	.cfi_startproc\n"
	"	.cfi_signal_frame\n"
#ifdef __aarch64__
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 29, -16\n"
	"	.cfi_offset 30, -8\n"
	"	mov x29, #1\n"
	"	bl first\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	.cfi_def_cfa_offset 0\n"
#else
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 6, -16\n"
	"	mov $1, %ebp\n"
	"	call first\n"
	"	pop %rbp\n"
	"	.cfi_restore 6\n"
	"	.cfi_def_cfa_offset 8\n"
#endif
	"	ret\n"
	"	.cfi_endproc\n"
	".size marked, . - marked\n");

void calls_marked(void);
__attribute__((noinline, noclone)) void calls_marked(void)
{
	marked();
	NOT_LAST;
}

static void handle(int number)
{
	(void)number;
	first();
	NOT_LAST;
}

void raises(void);
__attribute__((noinline, noclone)) void raises(void)
{
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	NOT_LAST;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = { { "context", enter_context },
		    { "shim", calls_shim },
		    { "marked", calls_marked },
		    { "signal", raises } };
	size_t i;

	units = spin_argument(argc, argv, 2, 2000);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (argc > 1 && !strcmp(argv[1], all[i].name))
			return all[i].run(), 0;
	return 1;
}
