// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * faults ROUNDS: ROUNDS times, touch_pages faults in 32 MiB, page by page, which are then dropped.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rawcall.h"
#include "spin.h"

#define BYTES (32UL << 20)

__attribute__((noinline)) static void touch_pages(volatile char *memory, unsigned long page)
{
	unsigned long i;

	for (i = 0; i < BYTES; i += page)
		memory[i] = 1;
}

__attribute__((noinline)) static void drop_pages(char *memory)
{
	rawcall(SYS_madvise, (long)memory, BYTES, MADV_DONTNEED);
}

int main(int argc, char **argv)
{
	unsigned long rounds = spin_argument(argc, argv, 1, 10), i;
	char *memory =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, BYTES, MADV_NOHUGEPAGE);
	for (i = 0; i < rounds; i++) {
		touch_pages(memory, (unsigned long)sysconf(_SC_PAGESIZE));
		drop_pages(memory);
	}
	return 0;
}
