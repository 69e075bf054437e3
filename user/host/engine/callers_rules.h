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

/* The maps for the tables. The caller keeps all but `rules`. */
struct callers_rules_maps {
	int lines_fd; /* the first lines; more come in chunks */
	int line_chunks_fd;
	struct mapped_array rules;
	struct text_numbers texts;
};

/* Divides bytes, before load. */
void callers_rules_plan(struct chunked_array *lines, uint64_t bytes);

/*
 * Makes tables of announced files, in a thread of its own, because a large file takes tens of
 * milliseconds. Owns the map of rules and the array, also on failure. NULL: out of memory, or no
 * thread.
 */
struct callers_rules *callers_rules_start(const struct callers_rules_maps *maps,
					  const struct chunked_array *lines, struct error *err);

/*
 * Requests the table of a text, or that its number and its table are freed, if no walk and no node
 * has the number. Owns fd. The owner's number and `counts` need not be set. False: out of memory.
 */
bool callers_rules_add(struct callers_rules *rules, struct wanted_rules wanted);

/* Marks a text that no walk has seen yet as one without a table. */
void callers_rules_add_none(struct callers_rules *rules, uint32_t text);

/* Whether a file found no room since the last table was freed. */
bool callers_rules_refused(const struct callers_rules *rules);

/* Whether tables should be freed to make room for others. */
bool callers_rules_are_short(const struct callers_rules *rules);

/* The number of texts that have no table yet. Each may have a descriptor. */
size_t callers_rules_waiting(struct callers_rules *rules);

/* Waits until the thread has nothing to do, or this time is over. */
void callers_rules_wait(struct callers_rules *rules, unsigned int milliseconds);

/* Bytes of kernel memory in use. */
uint64_t callers_rules_bytes(const struct callers_rules *rules);

void callers_rules_end(struct callers_rules *rules); /* NULL is fine */

#endif
