/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CLIENT_CALLS_H
#define BPFPROFIL_CLIENT_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "bpfprofil/profil.h"
#include "shared/call_protocol.h"

/*
 * The calls, before errno is set and before what a drop-in does in addition. They do not touch
 * errno.
 */
struct outcome {
	long value; /* what the call returns; valid only without an error */
	int error; /* 0 or an errno */
	int served; /* 0: no server could be asked, and error says why */
	int known; /* the server knows this process, or its parent before the fork */
	struct call_state state; /* the server's reply, if it was asked */
};

/* Dialect arguments are an enum dialect, or this for the process's. */
enum { DIALECT_CURRENT = -1 };

struct outcome client_profil(int dialect, void *buf, size_t bufsiz, size_t offset,
			     unsigned long scale);
struct outcome client_sprofil(int dialect, struct prof *profp, int profcnt, struct timeval *tvp,
			      unsigned int flags);
struct outcome client_pcsample(void *samples, long nsamples);

/* op is CALL_SYNC or CALL_STATUS. */
struct outcome client_ask(uint16_t op);

/* Returns as a C library function does: value, or -1 and errno; ENOSYS: no server is listening. */
long client_return(const struct outcome *outcome);

#endif
