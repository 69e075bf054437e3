/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JIT_TEXT_H
#define BPFPROFIL_JIT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/engine/jit_map.h"
#include "host/engine/jit_moves.h"

/*
 * The just-in-time text of a process: its perf map, and code that other code has replaced. Replaced
 * code gets a place of its own, from JIT_PLACES on, where no process has text.
 */
#define JIT_PLACES (1ULL << 52)

struct jit_place {
	uint64_t start;
	uint64_t size;
	char *name;
};

struct jit_places {
	struct jit_place *list;
	size_t nr;
	size_t capacity;
};

struct jit_text {
	struct jit_map *map; /* NULL: there is none */
	uint64_t device; /* device of the map's file */
	uint64_t inode;
	int watch; /* inotify watch; -1: none */
	bool sought; /* a dump was looked for, because there is no map */
	bool is_read; /* the map was read to its end at least once */
	bool too_large;
	uint64_t read_ns; /* time of the last reading */
	uint64_t next; /* the next free place */
	uint64_t limit; /* bytes of the map that the last profile has read */
	uint64_t doubtful; /* moved ticks that may belong to the new code */
	struct jit_moves moves; /* moves since the last take */
	struct jit_places now; /* where these lead */
	struct jit_places last; /* places of the last take, whose names may still be asked for */
};

struct jit_text *jit_text_new(void); /* NULL: out of memory */
void jit_text_free(struct jit_text *text, size_t *room); /* NULL is fine */

/* Reserves a place for code. *result is its first byte; returns -ENOMEM on failure. */
int jit_text_place(struct jit_text *text, const struct jit_code *code, const char *name,
		   uint64_t *result);

/* Starts new moves after the counts were taken. */
void jit_text_turn(struct jit_text *text);

/* The places as a perf map: a descriptor for the caller, or -errno. */
int jit_text_open_places(const struct jit_text *text);

#endif
