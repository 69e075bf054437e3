/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JIT_TEXT_H
#define BPFPROFIL_JIT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/jit_map.h"
#include "engine/jit_moves.h"

/*
 * The just-in-time text of a process: its perf map, and code that other code took the place of. That
 * gets a place of its own, from JIT_PLACES on, where no process has text.
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
	uint64_t device; /* of the map's file */
	uint64_t inode;
	int watch; /* of inotify; -1: none */
	bool sought; /* a dump, where there is no map */
	bool is_read; /* to the end, at least once */
	bool too_large;
	uint64_t read_ns; /* when it last was */
	uint64_t next; /* place */
	uint64_t limit; /* bytes of the map that the last profile knows of */
	uint64_t doubtful; /* ticks of moves that may be of the new code */
	struct jit_moves moves; /* since the last take */
	struct jit_places now; /* that they lead to */
	struct jit_places last; /* those of the last take, whose names may still be asked for */
};

struct jit_text *jit_text_new(void); /* NULL: out of memory */
void jit_text_free(struct jit_text *text, size_t *room); /* NULL is fine */

/* Room for code at a place of its own. *ret: its first byte; -ENOMEM. */
int jit_text_place(struct jit_text *text, const struct jit_code *code, const char *name,
		   uint64_t *ret);

/* What was counted is taken: moves begin anew. */
void jit_text_turn(struct jit_text *text);

/* The places as a perf map: a descriptor for the caller, or -errno. */
int jit_text_open_places(const struct jit_text *text);

#endif
