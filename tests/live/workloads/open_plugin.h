/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef OPEN_PLUGIN_H
#define OPEN_PLUGIN_H

#include <dlfcn.h>
#include <stdio.h>

/* The function of plugin.c that burns so many units, as dlsym() and as a caller have it. */
union plugin_run {
	void *object;
	void (*call)(unsigned long units);
};

/* Opens the library at path and finds its function, NULL if it has none. NULL: it cannot be opened. */
static inline void *open_plugin(const char *path, union plugin_run *run)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library)
		run->object = dlsym(library, "plugin_run");
	else
		fprintf(stderr, "%s\n", dlerror());
	return library;
}

#endif
