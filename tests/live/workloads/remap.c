// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * remap ROUNDS UNITS COPY: ROUNDS times burns 5 * UNITS in alpha, maps the page of beta from COPY, a copy
 * of this program, over its own, burns 3 * UNITS there, maps its own back, and burns 2 * UNITS in that. So
 * a part of the text's mapping is another file's in turn, at the same address.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spin.h"

#define PAGE_MAX 65536

/* Each begins a page, however large pages are. */
#define PAGE_FUNCTION(name)                                                                        \
	void name(unsigned long units);                                                            \
	__attribute__((noinline, aligned(PAGE_MAX))) void name(unsigned long units)                \
	{                                                                                          \
		__asm__ volatile("/* " #name " */");                                               \
		spin(units);                                                                       \
	}

PAGE_FUNCTION(alpha)
PAGE_FUNCTION(beta)

/* Where in the file the text at an address is; -1: not known. */
static long offset_of(unsigned long address)
{
	unsigned long start, end, offset;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	long found = -1;

	while (maps && found < 0 && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    start <= address && address < end)
			found = (long)(offset + address - start);
	if (maps)
		fclose(maps);
	return found;
}

int main(int argc, char **argv)
{
	unsigned long rounds = spin_argument(argc, argv, 1, 100), i;
	unsigned long units = spin_argument(argc, argv, 2, 10);
	union {
		void (*call)(unsigned long units);
		void *at;
	} page = { .call = beta };
	const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	long offset = offset_of((unsigned long)page.at);
	int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int copy = argc > 3 ? open(argv[3], O_RDONLY | O_CLOEXEC) : -1;

	if (own < 0 || copy < 0 || offset < 0)
		return 2;
	for (i = 0; i < rounds; i++) {
		alpha(5 * units);
		if (mmap(page.at, page_size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, copy,
			 offset) != page.at)
			return 1;
		beta(3 * units);
		if (mmap(page.at, page_size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, own,
			 offset) != page.at)
			return 1;
		beta(2 * units);
	}
	return 0;
}
