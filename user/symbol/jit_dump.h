/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JIT_DUMP_H
#define BPFPROFIL_JIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Parses jit-PID.dump, the dump in which runtimes describe just-in-time code: a header, then
 * records of what was loaded where and when, in this machine's byte order. The parser takes any
 * bytes.
 */
enum { JIT_DUMP_HEADER = 40 };

/*
 * The header's size if bytes begin with a header, else 0. has_time: timestamps are CLOCK_MONOTONIC.
 */
size_t jit_dump_header(const char *bytes, size_t nr, bool *has_time);

struct jit_record {
	enum { JIT_OTHER, JIT_LOAD, JIT_MOVE } kind;
	uint64_t time;
	uint64_t index; /* number of the code, which stays the same when it moves */
	uint64_t from; /* of a move: the old address */
	uint64_t start;
	uint64_t size;
	const char *name; /* of what was loaded; points into the bytes */
	size_t name_length;
};

/* This many bytes are enough to read a record, whatever follows its name. */
enum { JIT_RECORD_PREFIX = 56 + 4096 };

/*
 * Parses the record at the start of bytes, of which nr are available. Returns its whole length,
 * which exceeds nr where code follows; 0 if more bytes are needed to tell; -EINVAL if it is no
 * record.
 */
ssize_t jit_dump_record(const char *bytes, size_t nr, struct jit_record *result);

#endif
