/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLERS_RULES_H
#define BPFPROFIL_CALLERS_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "host/engine/maps.h"
#include "host/engine/rules_queue.h"
#include "host/engine/text_numbers.h"

struct callers_rules;

/* The maps that the tables are written into; all but `rules` stay the caller's. */
struct callers_rules_maps {
	int lines_fd; /* the first lines; more come in chunks */
	int line_chunks_fd;
	struct mapped_array rules;
	struct text_numbers texts;
};

/* Divides bytes, before load. */
void callers_rules_plan(struct chunked_array *lines, uint64_t bytes);

/*
 * Makes tables of the files that walks meet, in a thread of its own, since a large file takes tens of
 * milliseconds. It takes over the map of rules and the array, also on failure. NULL: out of memory, or no thread.
 */
struct callers_rules *callers_rules_start(const struct callers_rules_maps *maps,
					  const struct chunked_array *lines, struct error *err);

/* Has the table of a text made, and takes fd over. Whose the text is need not be filled in. */
void callers_rules_add(struct callers_rules *rules, struct wanted_rules wanted);

/* Tells at once that a text, which no walk has met yet, has no table. */
void callers_rules_add_none(struct callers_rules *rules, uint32_t text);

/*
 * Gives back a text's number and its table. No walk may have it, and nothing in the tree. False: out of
 * memory, and it is to be tried again.
 */
bool callers_rules_give_back(struct callers_rules *rules, uint32_t text);

/* Whether tables shall be given back, to have room for others. */
bool callers_rules_are_short(const struct callers_rules *rules);

/* Texts that wait, and may each have a descriptor. */
size_t callers_rules_waiting(struct callers_rules *rules);

/* Waits until all tables are made that may be now, at most so long. */
void callers_rules_wait(struct callers_rules *rules, unsigned int milliseconds);

/* Bytes of kernel memory in use. */
uint64_t callers_rules_bytes(const struct callers_rules *rules);

void callers_rules_end(struct callers_rules *rules); /* NULL is fine */

#endif
