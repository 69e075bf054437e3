// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/written.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "shared/call_abi.h"
#include "shared/dialect.h"

void written_add(struct written_list *list, const struct written *written)
{
	if (!grow((void **)&list->list, &list->capacity, list->nr + 1, sizeof(*list->list)))
		list->list[list->nr++] = *written;
}

void written_forget(struct written_list *list, uint64_t before_ns)
{
	size_t old = 0;

	while (old < list->nr && list->list[old].taken_ns < before_ns)
		old++;
	if (!old)
		return;
	list->nr -= old;
	memmove(list->list, list->list + old, list->nr * sizeof(*list->list));
}

/* What stands there since the last of them. */
static uint64_t last_after(const struct written_list *list, size_t i)
{
	uint64_t address = list->list[i].address, after = list->list[i].after;

	for (i++; i < list->nr; i++)
		if (list->list[i].address == address)
			after = list->list[i].after;
	return after;
}

/* A program that has cleared its buffer before the fork has no use for what was there. */
static bool is_changed(const struct written_list *list, size_t i, const struct process *parent)
{
	uint64_t now = 0;

	return !process_read(parent, list->list[i].address, &now, list->list[i].width) &&
	       now != last_after(list, i);
}

static bool has_most(const struct written *written, uint32_t inherited)
{
	uint64_t added = (written->after - written->before) & dialect_counter_max(written->width);

	return 2 * (uint64_t)inherited >= added;
}

void written_make_up(const struct written_list *list, const struct process *parent,
		     struct process *child, const struct birth *birth)
{
	size_t i;

	for (i = 0; i < list->nr; i++) {
		const struct written *written = &list->list[i];
		uint64_t found = 0;
		uint32_t inherited;
		int ret;

		if (written->from_ns > birth->until_ns)
			break;
		inherited = birth->inherited(birth, written->flat);
		if (inherited == CALL_NOT_INHERITED)
			continue;
		if (written->taken_ns > birth->from_ns && has_most(written, inherited))
			continue;
		ret = process_read(child, written->address, &found, written->width);
		if (ret == -ESRCH)
			break;
		if (!ret && found == written->before && found != written->after &&
		    !is_changed(list, i, parent))
			process_write_some(child, written->address, &written->after,
					   written->width);
	}
}

void written_free(struct written_list *list)
{
	free(list->list);
	memset(list, 0, sizeof(*list));
}
