/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFIL_H
#define BPFPROFIL_PROFIL_H

/*
 * profil(), sprofil() and pcsample() as the systems that had them: a histogram of where a program
 * spends its CPU time, counted by the kernel into the program's own memory while it runs. For C and
 * C++ of any age; link with -lbpfprofil.
 *
 * All functions are async-signal-safe, are no cancellation points and keep errno when they
 * succeed. Buffers stay the caller's: they are written to until the call that ends it, a fault,
 * exec or exit, and nothing has to be freed. Each has a manual page, profil(3bpfprofil) and so on;
 * bpfprofil(7) has the rules.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

/*
 * With glibc, struct prof and the flags are its own, so that both headers can be included, in any
 * order. Other C libraries have none; for programs that ask for <sys/profil.h> by name there is one
 * in the folder of this header.
 */
#ifdef __GLIBC__
#include <sys/profil.h>
#define BPFPROFIL_NOTHROW __THROW
#else
#define BPFPROFIL_NOTHROW

struct prof {
	void *pr_base; /* the counters */
	size_t pr_size; /* bytes of them */
	size_t pr_off; /* the lowest pc that is counted */
	unsigned long pr_scale; /* 16 bits of fraction; how many bytes of text share a counter */
};

enum {
	PROF_USHORT = 0, /* counters are unsigned short */
	PROF_UINT = 1 << 0, /* counters are unsigned int */
	PROF_FAST = 1 << 1 /* a tick each millisecond, not each ten */
};
#endif

/* The most regions that sprofil() takes. */
#ifndef PROFIL_MAX
#define PROFIL_MAX 4096
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Counts into the bufsiz bytes at buf; scale is the fraction with 16 bits that maps bytes of text
 * from offset on to bytes of buffer: 0x10000 counts 2 bytes of text in each counter, 0x8000 counts
 * 4. A NULL buf or a scale of 0 ends it. 0, or -1 and errno.
 */
int profil(unsigned short *buf, size_t bufsiz, size_t offset, unsigned int scale) BPFPROFIL_NOTHROW;

/*
 * The same for profcnt regions. *tvp, when it is not NULL, becomes the time between two ticks.
 * flags: PROF_USHORT or PROF_UINT, and PROF_FAST. 0, or -1 and errno.
 */
int sprofil(struct prof *profp, int profcnt, struct timeval *tvp,
	    unsigned int flags) BPFPROFIL_NOTHROW;

/*
 * Stores the pc of each tick, nsamples of them at most; 0 ends it. How many the call before this
 * one has stored, or -1 and errno.
 */
long pcsample(uintptr_t samples[], long nsamples) BPFPROFIL_NOTHROW;

/*
 * Whose manual the calls of this process follow from here on: "glibc" (the default), "v7", "svr4",
 * "solaris", "bsd43", "bsd44", "bsd44doc" or "irix". NULL: what BPFPROFIL_DIALECT says. 0, or -1
 * and EINVAL.
 */
int bpfprofil_dialect(const char *name) BPFPROFIL_NOTHROW;

/*
 * Returns when every tick so far stands in the buffers. 0, or -1 and errno; ECONNRESET: the server
 * that counted is gone, and counting with it.
 */
int bpfprofil_sync(void) BPFPROFIL_NOTHROW;

/* What is on: of struct bpfprofil_status. */
enum { BPFPROFIL_OFF, BPFPROFIL_PROFIL, BPFPROFIL_SPROFIL, BPFPROFIL_PCSAMPLE };

/* Why the last call's counting ended. */
enum {
	BPFPROFIL_STOPPED_NOT, /* it has not, or there was none */
	BPFPROFIL_STOPPED_ASKED, /* by a call */
	BPFPROFIL_STOPPED_LIMIT, /* a counter reached the dialect's limit */
	BPFPROFIL_STOPPED_FULL, /* pcsample(): no room left */
	BPFPROFIL_STOPPED_FAULT /* the buffer cannot be written to */
};

/* Grows at the end only. Ticks: total = binned + overflow + outside + filtered + lost. */
struct bpfprofil_status {
	unsigned int on;
	unsigned int stopped;
	unsigned int region; /* the index of the one that stopped it */
	unsigned int reserved;
	uint64_t counter; /* and of its counter; LIMIT only */
	uint64_t period_ns; /* of CPU time between ticks, as delivered; 0 when off */
	uint64_t total; /* ticks that hit the process since the call */
	uint64_t binned; /* counted in a counter that has the pc */
	uint64_t overflow; /* counted in the overflow bin */
	uint64_t outside; /* no counter has the pc */
	uint64_t filtered; /* left out by BPFPROFIL_USER_ONLY */
	uint64_t lost;
	const char *dialect; /* of the last call; lives for ever */
};

/* The same, without a function of this name beside it. */
typedef struct bpfprofil_status bpfprofil_status_t;

/*
 * size: sizeof(*status) as the caller was compiled with. Bytes that the library does not know are
 * set to 0. 0, or -1 and errno, with *status as it was.
 */
int bpfprofil_status(struct bpfprofil_status *status, size_t size) BPFPROFIL_NOTHROW;

#ifdef __cplusplus
}
#endif

#endif
