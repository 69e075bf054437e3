// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/callers_interned.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "unwind/unwind_table.h"

void interned_init(struct interned *interned, struct unwind_rule *all)
{
	interned->all = all;
	interned->next = 1; /* rule 0 is UNWIND_NONE */
}

void interned_free(struct interned *interned)
{
	uint32_t i;

	for (i = 0; i < OWNERS_MAX; i++)
		free(interned->owners[i].files);
}

/* The slot of a rule, or the free slot where it belongs. */
static uint32_t find_slot(const struct interned *interned, const struct unwind_rule *rule)
{
	uint32_t slot = unwind_rule_hash(rule) % RULE_SLOTS, number;

	for (; (number = interned->slots[slot]) != 0; slot = (slot + 1) % RULE_SLOTS)
		if (!memcmp(&interned->all[number], rule, sizeof(*rule)))
			break;
	return slot;
}

static uint32_t number_rule(struct interned *interned, const struct unwind_rule *rule)
{
	uint32_t slot = find_slot(interned, rule), number = interned->slots[slot];

	if (number)
		return number;
	if (interned->nr_unused)
		number = interned->unused[--interned->nr_unused];
	else if (interned->next < RULES_MAX)
		number = interned->next++;
	else
		return 0;
	interned->all[number] = *rule;
	interned->slots[slot] = (uint16_t)number;
	return number;
}

/* Moves later rules of the same run up if lookups still find them there. */
static void remove_rule(struct interned *interned, uint32_t number)
{
	uint32_t gap = find_slot(interned, &interned->all[number]), slot = gap, home;

	interned->unused[interned->nr_unused++] = (uint16_t)number;
	for (;;) {
		interned->slots[gap] = 0;
		do {
			slot = (slot + 1) % RULE_SLOTS;
			if (!interned->slots[slot])
				return;
			home = unwind_rule_hash(&interned->all[interned->slots[slot]]) % RULE_SLOTS;
		} while ((slot - home) % RULE_SLOTS < (slot - gap) % RULE_SLOTS);
		interned->slots[gap] = interned->slots[slot];
		gap = slot;
	}
}

/* Makes room for the owner's count of a number; false: out of memory. */
static bool make_room(struct rule_holder *holder, uint32_t number)
{
	size_t room = holder->room;

	if (number < room)
		return true;
	if (GROW(holder->files, room, number + 1))
		return false;
	memset(holder->files + holder->room, 0, (room - holder->room) * sizeof(*holder->files));
	holder->room = (uint32_t)room;
	return true;
}

uint32_t interned_hold(struct interned *interned, uint32_t owner, const struct unwind_rule *rule)
{
	struct rule_holder *holder = &interned->owners[owner];
	uint32_t number = number_rule(interned, rule);

	if (!number)
		return 0;
	if (!make_room(holder, number)) {
		if (!interned->holders[number])
			remove_rule(interned, number);
		return 0;
	}
	if (!holder->files[number]++) {
		holder->nr++;
		interned->holders[number]++;
	}
	return number;
}

void interned_release(struct interned *interned, uint32_t owner, uint32_t number)
{
	struct rule_holder *holder = &interned->owners[owner];

	if (--holder->files[number])
		return;
	holder->nr--;
	if (!--interned->holders[number])
		remove_rule(interned, number);
}
