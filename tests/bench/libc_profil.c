// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

typedef int profil_call(unsigned short *buf, size_t size, size_t offset, unsigned int scale);

profil_call libc_profil;

/* libc's function behind ours: calls.c is linked with libbpfprofil, which has the same name. */
int libc_profil(unsigned short *buf, size_t size, size_t offset, unsigned int scale)
{
	static profil_call *found;

	if (!found)
		found = (profil_call *)dlsym(RTLD_NEXT, "profil");
	return found ? found(buf, size, offset, scale) : -1;
}
