/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RULES_QUEUE_H
#define BPFPROFIL_RULES_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/callers_abi.h"

/*
 * Texts that wait for their tables. Root's come first, and the owners in each of these two groups take turns, so that
 * nobody waits for all files of another one. An owner other than root and us has some seconds of reading, which
 * come back with time; until then that owner's texts wait.
 */
enum { QUEUE_SECONDS = 10, QUEUE_REFILL = 60 /* a second in so many */ };

/* A text whose table is to be made. */
struct wanted_rules {
	uint32_t text;
	int fd; /* -1: it cannot be read, or it is in no file */
	bool is_file; /* else it has none */
	bool far; /* fd only pins it: see opener.h */
	bool is_gone; /* it is to be given back with its number instead */
	bool counts; /* its owner's time does */
	uint32_t number; /* of its owner */
	uint64_t owner; /* whom an opener is asked for */
};

/* All zero: it is empty. */
struct rules_queue {
	struct wanted_rules *list;
	size_t nr;
	size_t room;
	uint64_t turns;
	struct {
		uint64_t turn; /* its last one */
		uint64_t spent_ns;
		uint64_t at_ns; /* when that was so much */
	} owners[OWNERS_MAX];
};

int rules_queue_add(struct rules_queue *queue, const struct wanted_rules *wanted); /* -ENOMEM */

/* Drops what waits for a text. */
void rules_queue_drop(struct rules_queue *queue, uint32_t text);

/* Takes the next one out. False: there is none, or none whose owner has time now. */
bool rules_queue_next(struct rules_queue *queue, uint64_t now_ns, struct wanted_rules *result);

void rules_queue_spend(struct rules_queue *queue, uint32_t number, uint64_t ns, uint64_t now_ns);
void rules_queue_free(struct rules_queue *queue);

#endif
