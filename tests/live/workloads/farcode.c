// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* farcode OFFSET UNITS: burns UNITS in code that is at OFFSET of its file. */
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

int main(int argc, char **argv)
{
	unsigned long offset = spin_argument(argc, argv, 1, 0), units;
	int file = memfd_create("far", MFD_CLOEXEC);
	void (*burn)(unsigned int rounds);

	if (ftruncate(file, (off_t)offset + 65536) ||
	    pwrite(file, code, sizeof(code), (off_t)offset) != sizeof(code)) {
		perror("memfd");
		return 1;
	}
	burn = mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_SHARED, file, (off_t)offset);
	if (burn == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (units = spin_argument(argc, argv, 2, 1000); units; units--)
		burn((unsigned int)SPIN_UNIT);
	return 0;
}
