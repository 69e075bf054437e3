// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>

#include "client/calls.h"

/*
 * A static program that is built with -pg calls libc's __profil() from within libc. No library can
 * intercept that, but the linker can: -Wl,--wrap=__profil. Only the archive contains this file, and
 * the linker adds it only with that option.
 */
int __real___profil(unsigned short *buf, size_t bufsiz, size_t offset, unsigned int scale);
int __wrap___profil(unsigned short *buf, size_t bufsiz, size_t offset, unsigned int scale);

static int libc_counts;

int __wrap___profil(unsigned short *buf, size_t bufsiz, size_t offset, unsigned int scale)
{
	struct outcome outcome = client_profil(DIALECT_GLIBC, buf, bufsiz, offset, scale);

	if (client_may_fall_back(&outcome)) {
		libc_counts = 1;
		return __real___profil(buf, bufsiz, offset, scale);
	}
	if (outcome.error == ECONNRESET)
		dprintf(2, "bpfprofil: gmon.out: the server did not count to the end; "
			   "the time in it is short\n");
	if (libc_counts) {
		libc_counts = 0;
		__real___profil(NULL, 0, 0, 0);
	}
	return (int)client_return(&outcome);
}
