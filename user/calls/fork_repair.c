// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/fork_repair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "calls/batch.h"
#include "shared/dialect.h"

struct recent_write {
	uint64_t address;
	uint64_t flat; /* the counter's number in the call */
	uint64_t before; /* value before the write */
	uint64_t after;
	uint64_t from_ns; /* until then the kernel's counter had the count, */
	uint64_t taken_ns; /* and from then on it did not */
	uint32_t width;
};

void fork_repair_remember(struct caller *caller, uint64_t address, const uint8_t *before,
			  const uint8_t *after, const struct batch *batch)
{
	struct recent_write write = { .from_ns = batch->from_ns,
				      .taken_ns = batch->taken_ns,
				      .width = caller->spec->width };
	struct recent_writes *writes = &caller->writes;
	size_t i;

	for (i = 0; i < batch->nr; i++) {
		write.address = address + i * write.width;
		write.flat = batch->flat + i;
		write.before = get_counter(before + i * write.width, write.width);
		write.after = get_counter(after + i * write.width, write.width);
		if (!grow((void **)&writes->list, &writes->capacity, writes->nr + 1, sizeof(write)))
			writes->list[writes->nr++] = write;
	}
}

void fork_repair_forget(struct recent_writes *writes, uint64_t before_ns)
{
	size_t old = 0;

	while (old < writes->nr && writes->list[old].taken_ns < before_ns)
		old++;
	if (!old)
		return;
	writes->nr -= old;
	memmove(writes->list, writes->list + old, writes->nr * sizeof(*writes->list));
}

/* The value after the last of the writes. */
static uint64_t last_after(const struct recent_writes *writes, size_t i)
{
	uint64_t address = writes->list[i].address, after = writes->list[i].after;

	for (i++; i < writes->nr; i++)
		if (writes->list[i].address == address)
			after = writes->list[i].after;
	return after;
}

/* A program that changed its buffer before the fork does not want the old contents back. */
static bool is_changed(const struct caller *parent, size_t i)
{
	const struct recent_write *write = &parent->writes.list[i];
	uint64_t now = 0;

	return !process_read(&parent->process, write->address, &now, write->width) &&
	       now != last_after(&parent->writes, i);
}

/*
 * What the child was given of this counter of its parent before it was copied; CALL_NOT_INHERITED:
 * its buffer has no copy of it.
 */
static uint32_t inherited(const struct caller *child, const struct call_engine *engine,
			  uint64_t flat)
{
	uint64_t index = flat >> PAGE_SHIFT_COUNTERS | CALL_PAGE_INHERITED;
	uint32_t number = call_of(child, engine)->first_page, sum = 0, counter;

	if (child->spec->flags & CALL_TAKES_PCS)
		return caller_inherited_sample(child, engine, flat);
	/*
	 * There may be two such pages: one of the parent's own counts, and one of what the parent
	 * inherited.
	 */
	for (; number; number = engine->infos[number - 1].next) {
		if (engine->infos[number - 1].index != index)
			continue;
		counter = call_engine_page(engine, number)->counters[flat % PAGE_COUNTERS];
		if (counter == CALL_NOT_INHERITED)
			return CALL_NOT_INHERITED;
		sum += counter;
	}
	return sum;
}

static bool has_most(const struct recent_write *write, uint32_t inherited)
{
	uint64_t added = (write->after - write->before) & dialect_counter_max(write->width);

	return 2 * (uint64_t)inherited >= added;
}

/* Whether the child's counters were made too late to include what was taken for this write. */
static bool is_lacking(const struct recent_write *write, const struct caller *child,
		       const struct call_engine *engine)
{
	uint32_t got = inherited(child, engine, write->flat);

	if (got == CALL_NOT_INHERITED)
		return false;
	return write->taken_ns <= call_of(child, engine)->born_ns || !has_most(write, got);
}

void fork_repair(struct caller *child, const struct caller *parent,
		 const struct call_engine *engine)
{
	size_t i;

	for (i = 0; i < parent->writes.nr; i++) {
		const struct recent_write *write = &parent->writes.list[i];
		uint64_t found = 0;
		int ret;

		if (write->from_ns > call_of(child, engine)->born_until_ns)
			break;
		if (!is_lacking(write, child, engine))
			continue;
		ret = process_read(&child->process, write->address, &found, write->width);
		if (ret == -ESRCH)
			break;
		if (!ret && found == write->before && found != write->after &&
		    !is_changed(parent, i))
			process_write_some(&child->process, write->address, &write->after,
					   write->width);
	}
}

void fork_repair_free(struct recent_writes *writes)
{
	free(writes->list);
	memset(writes, 0, sizeof(*writes));
}
