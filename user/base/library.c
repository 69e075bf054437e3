// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int library_load(const char *file, const char *package, const char *const *names, size_t nr,
		 void *calls, struct error *err)
{
	void *library, *call, **to = calls;
	size_t i;

	if (to[nr - 1])
		return 0;
	library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	for (i = 0; library && i < nr; i++) {
		call = dlsym(library, names[i]);
		if (!call)
			break;
		memcpy(&to[i], &call, sizeof(call));
	}
	if (library && i == nr)
		return 0;
	error_set(err, -ENOENT, "%.400s", dlerror());
	error_hint(err, "apt-get install %s", package);
	memset(to, 0, nr * sizeof(*to));
	return -ENOENT;
}
