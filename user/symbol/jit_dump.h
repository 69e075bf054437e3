/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JIT_DUMP_H
#define BPFPROFIL_JIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Parses jit-PID.dump, in which runtimes describe just-in-time code: a header, then records of when
 * and where code was loaded, in this machine's byte order. The bytes may be anything.
 */
enum { JIT_DUMP_HEADER = 40 };

/* Returns the header's size, or 0: there is none. has_time: timestamps are CLOCK_MONOTONIC. */
size_t jit_dump_header(const char *bytes, size_t nr, bool *has_time);

struct jit_record {
	enum { JIT_OTHER, JIT_LOAD, JIT_MOVE } kind;
	uint64_t time;
	uint64_t index; /* number of the code; it stays when the code moves */
	uint64_t from; /* for JIT_MOVE: the old address */
	uint64_t start;
	uint64_t size;
	const char *name; /* for JIT_LOAD; points into the bytes */
	size_t name_length;
};

/* So many bytes are enough to read a record, whatever follows its name. */
enum { JIT_RECORD_PREFIX = 56 + 4096 };

/*
 * Parses the record at the start of nr bytes. Returns its whole length, which is more than nr if
 * its code is cut off; 0 if more bytes are needed; -EINVAL if it is not a record.
 */
ssize_t jit_dump_record(const char *bytes, size_t nr, struct jit_record *result);

#endif
