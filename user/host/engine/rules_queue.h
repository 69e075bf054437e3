/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_RULES_QUEUE_H
#define BPFPROFIL_RULES_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/callers_abi.h"

/*
 * Texts that wait for their tables. Root's come first. Otherwise owners take turns with one text
 * each, so that nobody waits for all files of another one. An owner other than root and us has some
 * seconds of reading time, which are refilled slowly. Texts of an owner without time wait.
 */
enum { QUEUE_SECONDS = 10, QUEUE_REFILL = 60 /* a second in so many */ };

/* A text whose table is to be made. */
struct wanted_rules {
	uint32_t text;
	int fd; /* -1: it cannot be read, or it is in no file */
	bool is_file; /* else it has no table */
	bool far; /* fd only pins it: see opener.h */
	bool is_gone; /* its number and table are to be freed instead */
	bool counts; /* reading uses its owner's time */
	uint32_t number; /* of its owner */
	uint64_t owner; /* key for opener_open() */
};

/* All zero: it is empty. */
struct rules_queue {
	struct wanted_rules *list;
	size_t nr;
	size_t room;
	uint64_t nr_served;
	struct {
		uint64_t served; /* the number of its last text */
		uint64_t spent_ns;
		uint64_t at_ns; /* when that was so much */
	} owners[OWNERS_MAX];
};

int rules_queue_add(struct rules_queue *queue, const struct wanted_rules *wanted); /* -ENOMEM */

/* Drops what waits for a text. */
void rules_queue_drop(struct rules_queue *queue, uint32_t text);

/* Removes the next one. False: there is none, or no owner has time now. */
bool rules_queue_next(struct rules_queue *queue, uint64_t now_ns, struct wanted_rules *result);

void rules_queue_spend(struct rules_queue *queue, uint32_t number, uint64_t ns, uint64_t now_ns);
void rules_queue_free(struct rules_queue *queue);

#endif
