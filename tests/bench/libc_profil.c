// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

typedef int profil_call(unsigned short *buf, size_t size, size_t offset, unsigned int scale);

profil_call libc_profil;

/* The one behind ours: calls.c is linked with libbpfprofil, whose name it has. */
int libc_profil(unsigned short *buf, size_t size, size_t offset, unsigned int scale)
{
	static profil_call *found;

	if (!found)
		found = (profil_call *)dlsym(RTLD_NEXT, "profil");
	return found ? found(buf, size, offset, scale) : -1;
}
