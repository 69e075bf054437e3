// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/shape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * No buffer is larger, and the counters of 4,096 regions of this size still have a number each. One
 * region alone needs no such bound.
 */
#define SIZE_MAX_EACH (1ULL << 50)

static int copy_entries(struct shape *shape, const struct call_entry *entries, uint32_t nr)
{
	uint32_t i;

	shape->entries = malloc((nr + 1) * sizeof(*entries));
	if (!shape->entries)
		return -ENOMEM;
	memcpy(shape->entries, entries, nr * sizeof(*entries));
	shape->nr_entries = nr;
	for (i = 0; nr > 1 && i < nr; i++)
		if (shape->entries[i].size > SIZE_MAX_EACH)
			shape->entries[i].size = SIZE_MAX_EACH;
	return 0;
}

static uint32_t buffer_lines(const struct shape *shape)
{
	return (shape->nr_entries + CALL_LINE_BUFFERS - 1) / CALL_LINE_BUFFERS;
}

/* Where the counters stand, behind the segments: a fork looks what its child has there. */
static void put_buffers(struct call_line *lines, struct shape *shape)
{
	uint32_t i;

	shape->table.table.buffers = shape->table.nr_lines;
	shape->table.table.nr_buffers = (uint16_t)shape->nr_entries;
	shape->table.table.width = (uint16_t)shape->width;
	for (i = 0; i < shape->nr_entries; i++)
		lines[shape->table.nr_lines + i / CALL_LINE_BUFFERS].buffers[i % CALL_LINE_BUFFERS] =
			(struct call_buffer){
				.first = shape->table.firsts ? shape->table.firsts[i] : 0,
				.base = shape->entries[i].base,
			};
}

static int compile(struct shape *shape)
{
	const struct region_call call = {
		.dialect = shape->dialect,
		.width = shape->width,
		.sprofil = shape_is_sprofil(shape),
		.entries = shape->entries,
		.nr = shape->nr_entries,
	};

	/* pcsample() has one buffer and no regions. */
	return shape->op == CALL_PCSAMPLE ? 0 : region_table_compile(&call, &shape->table);
}

static int make_table(struct call_engine *engine, struct shape *shape)
{
	int64_t base;
	int ret;

	ret = compile(shape);
	if (ret)
		return ret;
	shape->nr_lines = shape->table.nr_lines + buffer_lines(shape);
	base = runs_take(&engine->free_lines, shape->nr_lines);
	if (base < 0) {
		shape->nr_lines = 0;
		return (int)base;
	}
	shape->table.table.base = (uint32_t)base;
	if (shape->table.nr_lines)
		memcpy(engine->lines + base, shape->table.lines,
		       shape->table.nr_lines * sizeof(*shape->table.lines));
	put_buffers(engine->lines + base, shape);
	free(shape->table.lines);
	shape->table.lines = NULL;
	return 0;
}

/* A shape without calls has a free number. */
static int take_number(struct call_engine *engine, struct shape *shape)
{
	uint32_t i;

	for (i = 0; i < engine->nr_calls; i++)
		if (!__atomic_load_n(&engine->shapes[i].calls, __ATOMIC_RELAXED) &&
		    !engine->shapes[i].held) {
			engine->shapes[i].held = 1;
			shape->number = i;
			return 0;
		}
	return -ENOSPC;
}

int shape_make(struct call_engine *engine, const struct shape *like,
	       const struct call_entry *entries, uint32_t nr_entries, struct shape **ret)
{
	struct shape *shape = malloc(sizeof(*shape));
	int failed;

	if (!shape)
		return -ENOMEM;
	*shape = *like;
	shape->entries = NULL;
	shape->table = (struct region_table){ 0 };
	shape->nr_lines = 0;
	shape->number = UINT32_MAX;
	failed = copy_entries(shape, entries, nr_entries);
	if (!failed)
		failed = make_table(engine, shape);
	if (!failed)
		failed = take_number(engine, shape);
	if (failed)
		shape_free(engine, shape);
	else
		*ret = shape;
	return failed;
}

void shape_free(struct call_engine *engine, struct shape *shape)
{
	if (!shape)
		return;
	if (shape->nr_lines)
		runs_give(&engine->free_lines, shape->table.table.base, shape->nr_lines);
	if (shape->number != UINT32_MAX)
		engine->shapes[shape->number].held = 0;
	region_table_free(&shape->table);
	free(shape->entries);
	free(shape);
}

uint32_t shape_locate(const struct shape *shape, uint64_t flat, uint64_t *ret_bin,
		      uint64_t *ret_left)
{
	size_t entry = region_table_locate(&shape->table, flat, ret_bin);

	*ret_left = shape->table.firsts[entry + 1] - flat;
	return (uint32_t)entry;
}
