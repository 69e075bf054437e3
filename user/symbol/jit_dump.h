/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JIT_DUMP_H
#define BPFPROFIL_JIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The dump that runtimes write of just-in-time code, jit-PID.dump: a header, then records with what
 * was loaded where and when, of this machine's byte order. Any bytes may stand there.
 */
enum { JIT_DUMP_HEADER = 40 };

/* The header's size when bytes begin with one, else 0. has_time: by CLOCK_MONOTONIC. */
size_t jit_dump_header(const char *bytes, size_t nr, bool *has_time);

struct jit_record {
	enum { JIT_OTHER, JIT_LOAD, JIT_MOVE } kind;
	uint64_t time;
	uint64_t index; /* of the code, the same wherever it moves */
	uint64_t from; /* of a move: where it was */
	uint64_t start;
	uint64_t size;
	const char *name; /* of what was loaded; in the bytes */
	size_t name_length;
};

/* Bytes that are enough to begin a record with, whatever follows its name. */
enum { JIT_RECORD_PREFIX = 56 + 4096 };

/*
 * The record that bytes begin with, of which nr are at hand. Its whole length, more than nr where code
 * follows; 0: more bytes are needed to tell; -EINVAL: it is none.
 */
ssize_t jit_dump_record(const char *bytes, size_t nr, struct jit_record *ret);

#endif
