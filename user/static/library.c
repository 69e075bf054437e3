// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Replaces base/library.c and libc's loader in build/static/bpfprofil. glibc crashes in a static
 * program that loads a library of another glibc. Therefore nothing is loaded: none of our
 * libraries, and none for libdw (libdebuginfod) or libc (users' names by NSS, locales).
 */
#include <capstone/capstone.h>
#include <errno.h>
#include <lzma.h>
#include <seccomp.h>
#include <string.h>

#include "base/library.h"

#define LINKED_CALLS(call)                                                                         \
	call(cs_option) call(cs_open) call(cs_malloc) call(cs_disasm_iter) call(cs_free)           \
		call(cs_close) call(seccomp_init) call(seccomp_rule_add) call(seccomp_load)        \
			call(lzma_stream_decoder) call(lzma_code) call(lzma_end)
#define LINKED(call) { #call, (void (*)(void))(call) },

static const struct {
	const char *name;
	void (*call)(void);
} linked[] = { LINKED_CALLS(LINKED) };

/* The packages that are left out, and the options that need them. */
static const struct {
	const char *package;
	const char *options;
} left_out[] = { { "libcurl4", "--otlp, --pyroscope or --parca" },
		 { "libmicrohttpd12", "--listen" },
		 { "libdebuginfod1", "debuginfod" } };

static int refuse(const char *package, struct error *err)
{
	const char *options = package;
	size_t i;

	for (i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (!strcmp(left_out[i].package, package))
			options = left_out[i].options;
	return error_with_hint(err, -ENOENT, "the bpfprofil of make install or of a package",
			       "the static bpfprofil has no %s", options);
}

int library_load(const char *file, const char *package, const char *const *names, size_t nr,
		 void *calls, struct error *err)
{
	void **to = calls;
	size_t i, j;

	(void)file;
	for (i = 0; i < nr; i++) {
		for (j = 0; j < sizeof(linked) / sizeof(linked[0]); j++)
			if (!strcmp(linked[j].name, names[i]))
				memcpy(&to[i], &linked[j].call, sizeof(to[i]));
		if (!to[i])
			return refuse(package, err);
	}
	return 0;
}

/* Return NULL or success for any arguments: dlopen(), which libdw calls, and libc's own calls. */
#define NOTHING(call)                                                                              \
	void *call(void);                                                                          \
	void *call(void)                                                                           \
	{                                                                                          \
		return NULL;                                                                       \
	}

NOTHING(dlopen)
NOTHING(__libc_dlopen_mode)
NOTHING(__libc_dlsym)
NOTHING(__libc_dlvsym)
NOTHING(__libc_dlclose)
