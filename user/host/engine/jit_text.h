/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JIT_TEXT_H
#define BPFPROFIL_JIT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/engine/jit_map.h"

/*
 * The just-in-time text of a process: its perf map, and code that other code has replaced. Replaced
 * code gets a place of its own, where no process has text: from JIT_PLACES on or, if some of its
 * ticks may be the next code's, from JIT_DOUBTFUL on.
 */
#define JIT_PLACES (1ULL << 52)
#define JIT_DOUBTFUL (JIT_PLACES + (1ULL << 51))

/*
 * Code that had ticks when other code replaced it. Ticks are counted by address alone. Therefore
 * the text got a new number then: ticks with an older number belong to code of an earlier version.
 */
struct jit_former {
	uint64_t start;
	uint64_t size;
	char *name;
	uint32_t version; /* the last one in which it was at this address */
	uint64_t place;
};

struct jit_formers {
	struct jit_former *list; /* ascending by start */
	size_t nr;
	size_t capacity;
	uint64_t longest; /* no former is larger */
};

struct jit_text {
	struct jit_map *map; /* NULL: there is none */
	uint64_t device; /* device of the map's file */
	uint64_t inode;
	int watch; /* inotify watch; -1: none */
	int asked; /* for far text: the source of the next copy of the map; -1: none */
	bool sought; /* a dump was looked for, because there is no map */
	bool is_read; /* the map was read to its end at least once */
	bool too_large;
	size_t codes; /* functions that are remembered of the map */
	uint64_t read_ns; /* time of the last reading */
	uint64_t next[2]; /* the next free place: from JIT_PLACES on, and from JIT_DOUBTFUL on */
	uint64_t limit; /* bytes of the map that the last profile has read */
	uint32_t version; /* how often its number among the texts was changed */
	struct jit_formers formers; /* of earlier versions */
};

struct jit_text *jit_text_new(void); /* NULL: out of memory */
void jit_text_free(struct jit_text *text, size_t *room); /* NULL is fine */

/* Notes that this was the last version of a code. Frees the name on failure: -ENOMEM. */
int jit_text_add_former(struct jit_text *text, const struct jit_code *code, char *name,
			bool doubtful);

/* The place of the code that was at an address in a version: still there, or elsewhere. */
uint64_t jit_text_find_former(const struct jit_text *text, uint32_t version, uint64_t address);

/* Removes code of earlier versions than this one. */
void jit_text_drop_formers(struct jit_text *text, uint32_t version);

/* The places as a perf map: a descriptor for the caller, or -errno. */
int jit_text_open_places(const struct jit_text *text);

#endif
