// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/engine/text_numbers.h"

#include <bpf/bpf.h>

static uint32_t unused_text(const struct text_numbers *numbers)
{
	uint32_t text;

	if (!bpf_map_lookup_and_delete_elem(numbers->free_fd, NULL, &text))
		return text;
	/* Test first, so that the count never wraps. */
	if (__atomic_load_n(&numbers->state->next_text, __ATOMIC_RELAXED) >= numbers->nr)
		return 0;
	text = __atomic_fetch_add(&numbers->state->next_text, 1, __ATOMIC_RELAXED);
	return text < numbers->nr ? text : 0;
}

uint32_t text_numbers_alloc(const struct text_numbers *numbers, uint32_t like)
{
	const uint32_t text = unused_text(numbers);
	struct rules_of_text *place = &numbers->places[text];

	if (!text)
		return 0;
	place->owner = numbers->places[like].owner;
	__atomic_fetch_add(&numbers->owners[place->owner].texts, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&numbers->state->texts, 1, __ATOMIC_RELAXED);
	return text;
}

void text_numbers_free(const struct text_numbers *numbers, uint32_t text)
{
	struct rules_of_text *place = &numbers->places[text];

	__atomic_fetch_sub(&numbers->owners[place->owner].texts, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&numbers->state->texts, 1, __ATOMIC_RELAXED);
	*place = (struct rules_of_text){ .state = RULES_AWAITED };
	bpf_map_update_elem(numbers->free_fd, NULL, &text, BPF_ANY);
}
