// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/*
 * farcode OFFSET UNITS [BEFORE]: burns UNITS in code that is at OFFSET of its file, in a mapping that begins BEFORE
 * bytes before it. First it burns some in the same code at the start of the file.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spin.h"

/* Counts its argument down. */
#if defined(__x86_64__)
static const unsigned char code[] = {
	0xff, 0xcf, /* dec %edi */
	0x75, 0xfc, /* jnz to it */
	0xc3, /* ret */
};
#elif defined(__aarch64__)
static const unsigned int code[] = {
	0x71000400, /* subs w0, w0, #1 */
	0x54ffffe1, /* b.ne to it */
	0xd65f03c0, /* ret */
};
#else
#error "farcode has no code for this machine"
#endif

static int file;

/* Writes the code to the file, and burns there. */
static void burn_at(unsigned long offset, unsigned long before, unsigned long units)
{
	unsigned char *mapped;

	if (ftruncate(file, (off_t)offset + 65536) ||
	    pwrite(file, code, sizeof(code), (off_t)offset) != sizeof(code)) {
		perror("memfd");
		exit(1);
	}
	mapped = mmap(NULL, before + 65536, PROT_READ | PROT_EXEC, MAP_SHARED, file,
		      (off_t)(offset - before));
	if (mapped == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	for (; units; units--)
		((void (*)(unsigned int rounds))(mapped + before))((unsigned int)SPIN_UNIT);
}

int main(int argc, char **argv)
{
	const unsigned long offset = spin_argument(argc, argv, 1, 0);
	const unsigned long units = spin_argument(argc, argv, 2, 1000);

	file = memfd_create("far", MFD_CLOEXEC);
	burn_at(0, 0, units / 4);
	burn_at(offset, spin_argument(argc, argv, 3, 0), units);
	return 0;
}
