// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "libraries.h"

#include <string.h>

bool library_gave_up(const char *report, const char *err)
{
	static const char overflow[] = "ERROR: AddressSanitizer: heap-buffer-overflow ";

	/* The tables of concurrent hashes, tsearch() and the units in libdw 0.188. */
	if (strstr(report, "/libdw"))
		return true;
	/* nss_database.c of glibc 2.36. */
	if (strstr(report, " getpwnam\n"))
		return true;
	/*
	 * The sanitizer asks for the stack of a new thread, and the C library needs memory to
	 * answer.
	 */
	if (strstr(err, "AddressSanitizer: CHECK failed: ") && strstr(err, "((pthread_getattr_np("))
		return true;
	/*
	 * vasprintf.c of glibc 2.36 writes the end of a text of 100 bytes behind its buffer of 100.
	 */
	return strstr(err, overflow) && strstr(err, "\n    #0 ") &&
	       strstr(strstr(err, "\n    #0 "), " in __interceptor_vasprintf ");
}

bool only_libdw_leaks(const char *report, const char *err)
{
	const char *leak = strstr(err, "ERROR: LeakSanitizer: "), *end;

	if (!strstr(report, "/libdw") || !leak)
		return false;
	while ((leak = strstr(leak, "\n    #1 "))) {
		end = strchr(++leak, '\n');
		if (!end || !memmem(leak, (size_t)(end - leak), "/libdw", 6))
			return false;
	}
	return true;
}
