/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_JIT_TEXT_H
#define BPFPROFIL_JIT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/engine/jit_map.h"
#include "profile/profile.h"

/*
 * The just-in-time text of a process: its perf map, and code that other code has replaced. Replaced
 * code gets a place of its own, from JIT_PLACES on, where no process has text.
 */
#define JIT_PLACES (1ULL << 52)

struct jit_place {
	uint64_t start;
	uint64_t size;
	char *name;
	bool doubtful; /* some ticks may be the next code's */
};

struct jit_places {
	struct jit_place *list; /* ascending */
	size_t nr;
	size_t capacity;
};

/*
 * Code that had been counted when other code took its place. Ticks are counted by addresses alone, so
 * the number of the text was changed then: what has an older one is code of an earlier turn.
 */
struct jit_former {
	uint64_t start;
	uint64_t size;
	char *name;
	uint32_t turn; /* the last one that it lay there in */
	bool doubtful; /* some ticks may be the next code's */
	uint64_t place; /* of this take; 0: it has none yet */
};

struct jit_formers {
	struct jit_former *list; /* by turn */
	size_t nr;
	size_t capacity;
};

struct jit_text {
	struct jit_map *map; /* NULL: there is none */
	uint64_t device; /* device of the map's file */
	uint64_t inode;
	int watch; /* inotify watch; -1: none */
	int asked; /* for far text: where the next copy of the map comes from; -1: nowhere */
	bool sought; /* a dump was looked for, because there is no map */
	bool is_read; /* the map was read to its end at least once */
	bool too_large;
	size_t codes; /* functions that are remembered of the map */
	uint64_t read_ns; /* time of the last reading */
	uint64_t next; /* the next free place */
	uint64_t limit; /* bytes of the map that the last profile has read */
	struct jit_places now; /* of formers */
	struct jit_places last; /* places of the last take, whose names may still be asked for */
	uint32_t turn; /* how often its number among the texts was changed */
	struct jit_formers formers; /* of earlier turns */
};

struct jit_text *jit_text_new(void); /* NULL: out of memory */
void jit_text_free(struct jit_text *text, size_t *room); /* NULL is fine */

/* Reserves a place for code. *result is its first byte; returns -ENOMEM on failure. */
int jit_text_place(struct jit_text *text, const struct jit_code *code, const char *name,
		   uint64_t *result);

/* Notes that this was the last turn of a code. Takes the name over, also on failure: -ENOMEM. */
int jit_text_add_former(struct jit_text *text, const struct jit_code *code, char *name,
			bool doubtful);

/* Where the code is that lay at an address in a turn: still there, or in a place. -ENOMEM */
int jit_text_find_former(struct jit_text *text, uint32_t turn, uint64_t address, uint64_t *result);

/* Whether some ticks at an address that a former was given may be other code's. */
bool jit_text_doubts(const struct jit_text *text, uint64_t address);

/* Forgets code of earlier turns than this one. */
void jit_text_drop_formers(struct jit_text *text, uint32_t turn);

/* Code gets new places after the ticks were taken. */
void jit_text_turn(struct jit_text *text);

/* The places as a perf map: a descriptor for the caller, or -errno. */
int jit_text_open_places(const struct jit_text *text);

#endif
