/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_PRELOAD_H
#define BPFPROFIL_CLIENT_PRELOAD_H

#include <stddef.h>
#include <sys/time.h>

#include "client/calls.h"

/*
 * The drop-in for LD_PRELOAD: a program that does not know us gets our counts from its own calls.
 * If no server can be asked it uses libc's, as if we were not there.
 */

/* libc's own functions, found when the library is loaded; NULL: libc does not have it. */
struct real_calls {
	int (*profil)(unsigned short *buf, size_t bufsiz, size_t offset, unsigned int scale);
	int (*sprofil)(struct prof *profp, int profcnt, struct timeval *tvp, unsigned int flags);
	void (*monstartup)(unsigned long low, unsigned long high);
	void (*moncontrol)(int mode);
	void (*mcleanup)(void);
};

const struct real_calls *preload_real(void);

/* Says in one line that libc counts, because of this errno: once, or as BPFPROFIL_VERBOSE has it. */
void preload_tell_fallback(const char *call, int error);

#endif
