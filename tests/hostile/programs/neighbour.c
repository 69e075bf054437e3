// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What any user can run beside others to take what the callers of all share.
 *
 *     neighbour chains MS             runs for so long with 255 callers at random, new ones at each tick
 *     neighbour files TINY DIR NR     executes NR copies of a program, in files of their own
 *     neighbour waits MS              two processes wait for each other for so long, each time with other callers
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS (1UL << 20)
#define TURNS 1000

/*
 * Moves the stack pointer to a word of the stack at random and stays there for a while. Each word is a return
 * address in the same function, whose frames are all of one word: by its rule each is the next one's caller.
 */
void wander(const uint64_t *stack, uint64_t mask, uint64_t turns, uint64_t seed);
extern const char wander_text[], wander_text_end[];

__asm__("	.text\n"
	"	.globl	wander\n"
	"	.type	wander, @function\n"
	"wander:\n"
	"	.cfi_startproc\n"
#ifdef __aarch64__
	/* Frames of 16 bytes, each with its return address in the upper word. */
	"	.cfi_def_cfa sp, 16\n"
	"	.cfi_offset x30, -8\n"
	"	mov	x9, sp\n"
	"1:	eor	x3, x3, x3, lsl #13\n"
	"	eor	x3, x3, x3, lsr #7\n"
	"	eor	x3, x3, x3, lsl #17\n"
	"	and	x4, x3, x1\n"
	"	and	x4, x4, #~1\n"
	"	add	x4, x0, x4, lsl #3\n"
	"	mov	sp, x4\n"
	"	mov	w4, #10000\n"
	"2:	subs	w4, w4, #1\n"
	"	b.ne	2b\n"
	"	subs	x2, x2, #1\n"
	"	b.ne	1b\n"
	"	mov	sp, x9\n"
	"	ret\n"
	"	.globl	wander_text\n"
	"wander_text:\n"
	"	.skip	1 << 20, 0\n"
#else
	"	mov	%rsp, %r11\n"
	"1:	mov	%rcx, %rax\n"
	"	shl	$13, %rax\n"
	"	xor	%rax, %rcx\n"
	"	mov	%rcx, %rax\n"
	"	shr	$7, %rax\n"
	"	xor	%rax, %rcx\n"
	"	mov	%rcx, %rax\n"
	"	shl	$17, %rax\n"
	"	xor	%rax, %rcx\n"
	"	mov	%rcx, %rax\n"
	"	and	%rsi, %rax\n"
	"	lea	(%rdi,%rax,8), %rsp\n"
	"	mov	$10000, %eax\n"
	"2:	dec	%eax\n"
	"	jnz	2b\n"
	"	dec	%rdx\n"
	"	jnz	1b\n"
	"	mov	%r11, %rsp\n"
	"	ret\n"
	"	.globl	wander_text\n"
	"wander_text:\n"
	"	.skip	1 << 20, 0x90\n"
#endif
	"	.globl	wander_text_end\n"
	"wander_text_end:\n"
	"	.cfi_endproc\n"
	"	.size	wander, . - wander\n");

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int run_chains(uint64_t ms)
{
	const uint64_t size = (uint64_t)(wander_text_end - wander_text), begun = now_ms();
	uint64_t *stack = calloc(2 * WORDS, sizeof(*stack)), seed = (uint64_t)getpid(), i;

	if (!stack)
		return 1;
	for (i = 0; i < 2 * WORDS; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		stack[i] = (uint64_t)wander_text + 1 + (seed >> 33) % (size - 1);
	}
	while (now_ms() - begun < ms)
		wander(stack, WORDS - 1, TURNS, seed++ | 1);
	return 0;
}

static int copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), ret = 1;
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (in >= 0 && out >= 0)
		ret = sendfile(out, in, NULL, 1 << 20) <= 0;
	close(in);
	close(out);
	return ret;
}

static int run_files(const char *tiny, const char *folder, long nr)
{
	char path[256], *argv[] = { path, NULL };
	pid_t pid;
	long i;

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%d-%ld", folder, getpid(), i);
		if (copy(tiny, path))
			return 1;
		if (posix_spawn(&pid, path, NULL, NULL, argv, environ))
			return 1;
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/* --- waits ---------------------------------------------------------------------------------------- */

struct exchange {
	int from;
	int to;
	unsigned int path; /* which function calls which */
};

static int right(const struct exchange *with, unsigned int depth);

static int exchange_byte(const struct exchange *with)
{
	char byte = 0;

	return write(with->to, &byte, 1) == 1 && read(with->from, &byte, 1) == 1;
}

static int left(const struct exchange *with, unsigned int depth)
{
	int ret;

	if (!depth)
		return exchange_byte(with);
	ret = with->path >> depth % 32 & 1 ? right(with, depth - 1) : left(with, depth - 1);
	__asm__ volatile(""); /* no tail call */
	return ret;
}

static int right(const struct exchange *with, unsigned int depth)
{
	int ret;

	if (!depth)
		return exchange_byte(with);
	ret = with->path >> depth % 32 & 1 ? left(with, depth - 1) : right(with, depth - 1);
	__asm__ volatile("");
	return ret;
}

enum { WAIT_DEPTH = 200 };

static int run_waits(uint64_t ms)
{
	struct timespec begun, now;
	struct exchange with;
	int forth[2], back[2];
	pid_t child;

	if (pipe(forth) || pipe(back))
		return 1;
	child = fork();
	with.from = child ? back[0] : forth[0];
	with.to = child ? forth[1] : back[1];
	close(child ? forth[0] : forth[1]);
	close(child ? back[1] : back[0]);
	signal(SIGPIPE, SIG_IGN);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	with.path = (unsigned int)getpid();
	do {
		with.path = with.path * 1664525 + 1013904223;
		if (!left(&with, WAIT_DEPTH))
			break;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((uint64_t)(now.tv_sec - begun.tv_sec) * 1000 < ms);
	return 0;
}

int main(int argc, char **argv)
{
	int ret = 2;

	if (argc == 3 && !strcmp(argv[1], "chains"))
		ret = run_chains(strtoull(argv[2], NULL, 10));
	else if (argc == 5 && !strcmp(argv[1], "files"))
		ret = run_files(argv[2], argv[3], strtol(argv[4], NULL, 10));
	else if (argc == 3 && !strcmp(argv[1], "waits"))
		ret = run_waits(strtoull(argv[2], NULL, 10));
	if (ret)
		perror(argv[0]);
	return ret;
}
