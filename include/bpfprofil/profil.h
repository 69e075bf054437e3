/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFIL_H
#define BPFPROFIL_PROFIL_H

/*
 * profil(), sprofil() and pcsample() as the old systems had them: while a program runs, the kernel
 * counts where it spends its CPU time, in a histogram in the program's own memory. For C and C++ of
 * any age; link with -lbpfprofil.
 *
 * All functions are async-signal-safe, are not cancellation points, and keep errno when they
 * succeed. The caller keeps the buffers. The kernel writes to them until a call ends it, or until a
 * fault, exec or exit, and nothing has to be freed. Each function has a manual page,
 * profil(3bpfprofil) and so on; bpfprofil(7) has the rules.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

/*
 * With glibc, struct prof and the flags come from its own header. Both headers can be included in
 * any order. Other C libraries have none; for programs that include <sys/profil.h>, there is one in
 * the folder of this header.
 */
#ifdef __GLIBC__
#include <sys/profil.h>
#define BPFPROFIL_NOTHROW __THROW
#else
#define BPFPROFIL_NOTHROW

struct prof {
	void *pr_base; /* the counters */
	size_t pr_size; /* size in bytes */
	size_t pr_off; /* the lowest pc that is counted */
	unsigned long pr_scale; /* bytes of counters per byte of text, with 16 bits of fraction */
};

enum {
	PROF_USHORT = 0, /* counters are unsigned short */
	PROF_UINT = 1 << 0, /* counters are unsigned int */
	PROF_FAST = 1 << 1 /* a tick every millisecond, not every ten */
};
#endif

/* The most regions that sprofil() accepts. */
#ifndef PROFIL_MAX
#define PROFIL_MAX 4096
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Counts into the bufsiz bytes at buf. scale maps bytes of text, from offset on, to bytes of
 * buffer; it is a fraction with 16 bits after the point: 0x10000 counts 2 bytes of text in each
 * counter, 0x8000 counts 4. A NULL buf or a scale of 0 ends counting. Returns 0, or -1 and errno.
 */
int profil(unsigned short *buf, size_t bufsiz, size_t offset, unsigned int scale) BPFPROFIL_NOTHROW;

/*
 * Does the same for profcnt regions. Unless tvp is NULL, *tvp is set to the time between two ticks.
 * flags: PROF_USHORT or PROF_UINT, and PROF_FAST. Returns 0, or -1 and errno.
 */
int sprofil(struct prof *profp, int profcnt, struct timeval *tvp,
	    unsigned int flags) BPFPROFIL_NOTHROW;

/*
 * Stores the pc of each tick, at most nsamples of them. nsamples 0 ends it. Returns how many pcs
 * the previous call stored, or -1 and errno.
 */
long pcsample(uintptr_t samples[], long nsamples) BPFPROFIL_NOTHROW;

/*
 * Chooses the system whose manual the calls of this process follow from now on: "glibc" (the
 * default), "v7", "svr4", "solaris", "bsd43", "bsd44", "bsd44doc" or "irix". NULL: the value of
 * BPFPROFIL_DIALECT. Returns 0, or -1 and EINVAL.
 */
int bpfprofil_dialect(const char *name) BPFPROFIL_NOTHROW;

/*
 * Waits until every tick so far is in the buffers. Returns 0, or -1 and errno. ECONNRESET: the
 * server that counted is gone, and counting has ended.
 */
int bpfprofil_sync(void) BPFPROFIL_NOTHROW;

/* For `on` of struct bpfprofil_status: the function that is counting. */
enum { BPFPROFIL_OFF, BPFPROFIL_PROFIL, BPFPROFIL_SPROFIL, BPFPROFIL_PCSAMPLE };

/* Why the last call's counting ended. */
enum {
	BPFPROFIL_STOPPED_NOT, /* it has not ended, or there was no call */
	BPFPROFIL_STOPPED_ASKED, /* by a call */
	BPFPROFIL_STOPPED_LIMIT, /* a counter reached the dialect's limit */
	BPFPROFIL_STOPPED_FULL, /* pcsample(): no room left */
	BPFPROFIL_STOPPED_FAULT /* the buffer cannot be written to */
};

/*
 * New members are added at the end only. Ticks: total = binned + overflow + outside + filtered +
 * lost.
 */
struct bpfprofil_status {
	unsigned int on;
	unsigned int stopped;
	unsigned int region; /* index of the region with the full counter, or with the fault */
	unsigned int reserved;
	uint64_t counter; /* index of its counter in the region; only for LIMIT */
	uint64_t period_ns; /* CPU time between ticks, as delivered; 0 when off */
	uint64_t total; /* ticks that hit the process since the call */
	uint64_t binned; /* counted in the counter of the pc */
	uint64_t overflow; /* counted in the overflow bin */
	uint64_t outside; /* no counter has the pc */
	uint64_t filtered; /* left out by BPFPROFIL_USER_ONLY */
	uint64_t lost;
	const char *dialect; /* of the last call; the string is never freed */
};

/* A name of the type that does not clash with bpfprofil_status(). */
typedef struct bpfprofil_status bpfprofil_status_t;

/*
 * size is sizeof(*status) as the caller was compiled. The library sets bytes that it does not know
 * to 0. Returns 0, or -1 and errno; on failure it leaves *status unchanged.
 */
int bpfprofil_status(struct bpfprofil_status *status, size_t size) BPFPROFIL_NOTHROW;

#ifdef __cplusplus
}
#endif

#endif
