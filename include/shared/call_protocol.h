/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALL_PROTOCOL_H
#define BPFPROFIL_CALL_PROTOCOL_H

#include <stdint.h>

#include "shared/call_stop.h"
#include "shared/dialect_names.h"

/*
 * The messages between the server and a program that calls profil(), sprofil() or pcsample().
 *
 * They use a Unix socket of SOCK_SEQPACKET, with one connection per call: connect, send a request,
 * receive a reply, close. Therefore a program keeps no descriptor that it might close, inherit or
 * pass on by mistake, and the next call finds a restarted server.
 *
 * The kernel reports the sender (SCM_CREDENTIALS), and a call is always about the sender's own
 * address space. A pid may have executed another program since its request. Therefore a request
 * carries the 16 random bytes that the kernel gave the image (AT_RANDOM): the server believes a
 * request only if it finds the same bytes in the address space that it opened.
 *
 * Both sides run on one host, with one byte order. Sizes are asserted.
 */
#define CALL_SOCKET_FOLDER "/run/bpfprofil"
#define CALL_SOCKET CALL_SOCKET_FOLDER "/socket"
#define CALL_SOCKET_ENV "BPFPROFIL_SOCKET"

enum {
	CALL_MAGIC = 0x70667062, /* "bpfp" */
	CALL_VERSION = 1,
	CALL_ENTRIES_MAX = 4096, /* PROFIL_MAX */
	CALL_PROOF_BYTES = 16,
};

enum call_op { CALL_PROFIL = 1, CALL_SPROFIL, CALL_PCSAMPLE, CALL_SYNC, CALL_STATUS };

/* Flags beside sprofil()'s own. */
enum {
	CALL_USER_ONLY = 1U << 0, /* leave out ticks that fall in the kernel */
};

/*
 * profil: one entry. sprofil: one for each region. pcsample: one, with base, and nsamples as size.
 */
struct call_entry {
	uint64_t base;
	uint64_t size;
	uint64_t offset;
	uint64_t scale;
};

struct call_request {
	uint32_t magic;
	uint16_t version;
	uint16_t op; /* enum call_op */
	uint32_t dialect; /* enum dialect */
	uint32_t profil_flags; /* sprofil()'s: PROF_UINT, PROF_FAST */
	uint32_t flags;
	uint32_t pointer; /* size of the caller's pointers in bytes: 4 or 8 */
	int64_t count; /* profcnt or nsamples as the caller had it */
	uint32_t nr_entries; /* entries that follow */
	uint32_t pad;
	uint8_t proof[CALL_PROOF_BYTES];
	struct call_entry entries[];
};

struct call_state {
	uint32_t on; /* 0 or CALL_PROFIL, CALL_SPROFIL, CALL_PCSAMPLE */
	uint32_t stopped; /* enum call_stop, of the last call */
	uint32_t region; /* whose counter stopped it, or which faulted */
	uint32_t dialect;
	uint64_t counter;
	uint64_t period_ns; /* time between ticks, as set and delivered; 0 when off */
	uint64_t total;
	uint64_t binned;
	uint64_t overflow;
	uint64_t outside;
	uint64_t filtered;
	uint64_t lost;
};

struct call_reply {
	uint32_t magic;
	uint16_t version;
	uint16_t known; /* the server has or had a call of the process, or knows that it has none */
	int32_t error; /* 0 or an errno */
	uint32_t pad2;
	int64_t value; /* what the call returns */
	struct call_state state;
};

#define CALL_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
CALL_SIZE(struct call_entry, 32);
CALL_SIZE(struct call_request, 56);
CALL_SIZE(struct call_state, 80);
CALL_SIZE(struct call_reply, 104);

#endif
