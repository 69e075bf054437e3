/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_CALLS_H
#define BPFPROFIL_CLIENT_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "bpfprofil/profil.h"
#include "shared/call_protocol.h"

/*
 * The calls, before errno and what a drop-in does beside. They touch no errno.
 */
struct outcome {
	long value; /* what the call returns; without an error only */
	int error; /* 0 or an errno */
	int served; /* 0: no server could be asked, and error says why */
	int known; /* the server has heard of this process, or of whose child it is */
	struct call_state state; /* the server's, when it was asked */
};

/* dialect: enum dialect, or -1: the process's. */
enum { DIALECT_CURRENT = -1 };

struct outcome client_profil(int dialect, void *buf, size_t bufsiz, size_t offset,
			     unsigned long scale);
struct outcome client_sprofil(int dialect, struct prof *profp, int profcnt, struct timeval *tvp,
			      unsigned int flags);
struct outcome client_pcsample(void *samples, long nsamples);

/* CALL_SYNC, CALL_STATUS. */
struct outcome client_ask(uint16_t op);

/* As a C library's function returns it: value, or -1 and errno; ENOSYS: nobody listens. */
long client_return(const struct outcome *outcome);

#endif
