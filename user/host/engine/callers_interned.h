/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_CALLERS_INTERNED_H
#define BPFPROFIL_CALLERS_INTERNED_H

#include <stdint.h>

#include "shared/callers_abi.h"

enum { RULE_SLOTS = 2 * RULES_MAX };

/*
 * The rules of all files, each once, and the owners that have them. An owner is charged once for a
 * rule, even if several of its files have it. If several owners have a rule, each is charged.
 * Therefore nobody can shift a rule to another's account. When no file has a rule any more, its
 * number is free.
 */
struct interned {
	struct unwind_rule *all; /* by number; the kernel's map */
	uint16_t slots[RULE_SLOTS]; /* numbers by their rule's hash; 0: free */
	uint16_t unused[RULES_MAX]; /* numbers that were in use */
	uint32_t nr_unused;
	uint32_t next; /* higher numbers were never in use */
	uint16_t holders[RULES_MAX]; /* by number: how many owners have it */
	struct rule_holder {
		uint16_t *files; /* by number: how many of the owner's files have it */
		uint32_t room;
		uint32_t nr; /* numbers that it has */
	} owners[OWNERS_MAX];
};

void interned_init(struct interned *interned, struct unwind_rule *all);
void interned_free(struct interned *interned);

/* Counts one more file of an owner with a rule. Returns its number; 0: no number, or no memory. */
uint32_t interned_hold(struct interned *interned, uint32_t owner, const struct unwind_rule *rule);

/* Counts one file less. No walk may use the number any more. */
void interned_release(struct interned *interned, uint32_t owner, uint32_t number);

#endif
